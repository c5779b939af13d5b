// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of lock functions: the built-in list, and the lines that a user's file adds, replaces or gets wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/guest/lock_functions.h"

static int setup(void **state)
{
	struct err err = {0};

	*state = lock_functions_new(&err);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	lock_functions_free(*state);
	return 0;
}

/* NULL: the list has no function of this name. */
static const struct lock_function *find(const struct lock_functions *l, const char *name)
{
	for (size_t i = 0; i < lock_functions_count(l); i++) {
		const struct lock_function *f = lock_functions_get(l, i);

		if (f->op != LOCK_OUTER && strcmp(f->name, name) == 0)
			return f;
	}
	return NULL;
}

/* Load a file with these bytes. Fills `err` if that fails. */
static int load(struct lock_functions *l, const void *bytes, size_t len, struct err *err)
{
	char path[] = "/tmp/lock-functions-XXXXXX";
	int fd = mkstemp(path), ret;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
	*err = (struct err){0};
	ret = lock_functions_load(l, path, err);
	unlink(path);
	return ret;
}

static int load_text(struct lock_functions *l, const char *text, struct err *err)
{
	return load(l, text, strlen(text), err);
}

static void own_list_says_what_linux_does(void **state)
{
	const struct lock_function *f = find(*state, "_raw_spin_lock_irqsave");

	assert_non_null(f);
	assert_int_equal(f->op, LOCK_TAKE);
	assert_int_equal(f->kind, LOCK_SPIN);
	assert_int_equal(f->off, LOCK_NO_IRQ | LOCK_NO_SOFTIRQ);
	assert_int_equal(f->arg, 0);
	assert_string_equal(f->given_by, "_raw_spin_unlock_irqrestore");
	f = find(*state, "_raw_spin_lock_bh");
	assert_int_equal(f->off, LOCK_NO_SOFTIRQ);
	f = find(*state, "mutex_trylock");
	assert_int_equal(f->op, LOCK_TRY);
	assert_true(f->nonzero);
	f = find(*state, "mutex_lock_interruptible");
	assert_int_equal(f->op, LOCK_TRY);
	assert_false(f->nonzero);
	f = find(*state, "down_trylock");
	assert_false(f->nonzero);
	f = find(*state, "down_read");
	assert_true(f->shared);
	f = find(*state, "downgrade_write");
	assert_int_equal(f->op, LOCK_SHARE);
	assert_int_equal(f->kind, LOCK_RWSEM);
	f = find(*state, "rt_spin_trylock");
	assert_int_equal(f->kind, LOCK_RTMUTEX);
	assert_true(f->nonzero);
	f = find(*state, "cpus_read_lock");
	assert_int_equal(f->kind, LOCK_SEMAPHORE);
	assert_true(f->shared);
	assert_string_equal(f->variable, "cpu_hotplug_lock");
	f = find(*state, "rtnl_lock");
	assert_int_equal(f->arg, LOCK_ARG_VARIABLE);
	assert_string_equal(f->variable, "rtnl_mutex");
	f = find(*state, "kmem_cache_free");
	assert_int_equal(f->op, LOCK_FREE);
	assert_int_equal(f->arg, 1);
	assert_int_equal(find(*state, "__kmalloc")->op, LOCK_NEW);
	assert_int_equal(find(*state, "nvme_complete_rq")->op, LOCK_REUSE);
}

static void own_list_has_hand_overs(void **state)
{
	const struct lock_function *f = find(*state, "queue_work_on");

	assert_int_equal(f->op, LOCK_RELEASE);
	assert_int_equal(f->kind, HANDOVER_WORK);
	assert_int_equal(f->arg, 2);
	assert_int_equal(f->calls, LOCK_CALLS_MEMBER);
	assert_int_equal(f->calls_at, 24);
	f = find(*state, "request_threaded_irq");
	assert_int_equal(f->kind, HANDOVER_IRQ);
	assert_int_equal(f->calls, LOCK_CALLS_ARGUMENT);
	assert_int_equal(f->calls_at, 1);
	f = find(*state, "process_one_work");
	assert_int_equal(f->op, LOCK_CALLER);
	assert_int_equal(f->kind, HANDOVER_WORK);
	assert_int_equal(f->calls, LOCK_CALLS_MEMBER);
	assert_int_equal(f->calls_at, 24);
	f = find(*state, "hrtimer_start_range_ns");
	assert_int_equal(f->kind, HANDOVER_TIMER);
	assert_int_equal(f->calls_at, 40);
	assert_int_equal(f->calls_or_at, 72);
	assert_int_equal(find(*state, "__hrtimer_run_queues")->calls_at, 40);
	assert_int_equal(find(*state, "hrtimer_cancel")->op, LOCK_ACQUIRE);
	assert_true(find(*state, "hrtimer_cancel")->stops);
	assert_false(find(*state, "flush_work")->stops);
	f = find(*state, "napi_disable");
	assert_int_equal(f->op, LOCK_ACQUIRE);
	assert_int_equal(f->kind, HANDOVER_NAPI);
	assert_true(f->stops);
	assert_int_equal(find(*state, "napi_enable_locked")->calls_or_at, 32);
	assert_int_equal(find(*state, "__napi_poll")->calls_at, 40);
	f = find(*state, "disable_irq_nosync");
	assert_int_equal(f->op, LOCK_STOP);
	assert_int_equal(f->kind, HANDOVER_IRQ);
	f = find(*state, "snd_pcm_update_hw_ptr0");
	assert_int_equal(f->op, LOCK_CALLER);
	assert_int_equal(f->kind, HANDOVER_SERIAL);
	f = find(*state, "__handle_irq_event_percpu");
	assert_int_equal(f->kind, HANDOVER_IRQ);
	assert_int_equal(f->calls, LOCK_CALLS_NOTHING);
	f = find(*state, "complete");
	assert_int_equal(f->op, LOCK_RELEASE);
	assert_int_equal(f->calls, LOCK_CALLS_NOTHING);
	f = find(*state, "wait_for_completion");
	assert_int_equal(f->op, LOCK_ACQUIRE);
	assert_false(f->tested);
	f = find(*state, "wait_for_completion_timeout");
	assert_true(f->tested);
	assert_true(f->nonzero);
	f = find(*state, "wait_for_completion_killable");
	assert_true(f->tested);
	assert_false(f->nonzero);
}

/* Every name in given-by has a line in the list. Otherwise its lock would be doubtful in every kernel. */
static void own_list_follows_who_gives_back(void **state)
{
	const struct lock_functions *l = *state;

	for (size_t i = 0; i < lock_functions_count(l); i++) {
		const struct lock_function *f = lock_functions_get(l, i);
		char names[sizeof(f->given_by)], *rest = names, *name;

		memcpy(names, f->given_by, sizeof(names));
		while (names[0] && (name = strsep(&rest, "|"))) {
			const struct lock_function *give = find(l, name);

			assert_non_null(give);
			assert_int_equal(give->op, LOCK_GIVE);
			assert_int_equal(give->kind, f->kind);
		}
	}
}

static void list_is_in_order(void **state)
{
	const struct lock_functions *l = *state;

	for (size_t i = 1; i < lock_functions_count(l); i++)
		assert_true(strcmp(lock_functions_get(l, i - 1)->name, lock_functions_get(l, i)->name) <= 0);
}

static void users_lines_add_and_replace(void **state)
{
	struct lock_functions *l = *state;
	size_t before = lock_functions_count(l);
	const struct lock_function *f;
	struct err err;

	assert_int_equal(load_text(l,
				   "# mine\n\n"
				   "take spin my_lock arg2+0x10 no-softirq given-by:my_unlock # for this driver\n"
				   "give spin my_unlock arg2+16\r\n"
				   "take rwlock mutex_lock arg1 shared\n"
				   "outer rwsem my_sem",
				   &err),
			 0);
	assert_int_equal(lock_functions_count(l), before + 3);
	f = find(l, "my_lock");
	assert_int_equal(f->arg, 2);
	assert_int_equal(f->offset, 16);
	assert_int_equal(f->off, LOCK_NO_SOFTIRQ);
	assert_string_equal(f->given_by, "my_unlock");
	assert_int_equal(find(l, "my_unlock")->offset, 16);
	f = find(l, "mutex_lock");
	assert_int_equal(f->kind, LOCK_RWLOCK);
	assert_int_equal(f->arg, 1);
	assert_true(f->shared);
	list_is_in_order(state);
}

/* Lines that are no lines of a list, and what the message says of each. */
static const struct {
	const char *line, *says;
} bad[] = {
	{"lock spin f arg0", "lock"},
	{"take", "missing"},
	{"take spin", "missing"},
	{"take spin f", "missing"},
	{"free f", "missing"},
	{"new", "missing"},
	{"outer mutex", "missing"},
	{"caller work", "missing"},
	{"caller mutex f", "mutex"},
	{"caller work f calls:arg1", "offset"},
	{"caller work f arg0", "arg0"},
	{"take hard f arg0", "hard"},
	{"take spin f arg6", "arg6"},
	{"take spin f arg00", "arg00"},
	{"take spin f rdi", "rdi"},
	{"take spin f variable:", "name"},
	{"take spin f arg0+", "offset"},
	{"take spin f arg0+x", "offset"},
	{"take spin f arg0+-8", "offset"},
	{"take spin f arg0+99999999999999999999", "offset"},
	{"take spin f arg0 quickly", "quickly"},
	{"take spin f arg0 zero", "zero"},
	{"take spin f arg0 given-by:", "name"},
	{"take spin code:c60700 arg0", "for give lines only"},
	{"give spin code: arg0", "1 to 16 bytes"},
	{"give spin code:c6070 arg0", "1 to 16 bytes"},
	{"give spin code:c6070g arg0", "1 to 16 bytes"},
	{"give spin code:000102030405060708090a0b0c0d0e0f10 arg0", "1 to 16 bytes"},
	{"give spin f arg0 given-by:g", "given-by:g"},
	{"take spin f arg0 at-return", "at-return"},
	{"take spin f arg0 exclusive", "exclusive"},
	{"give semaphore f arg0 exclusive", "exclusive"},
	{"give spin code:c60700 arg0 at-return", "at-return"},
	{"try spin f arg0", "nonzero"},
	{"take spin f arg0 shared shared shared shared shared", "too many"},
	{"share rwsem f", "missing"},
	{"share rwsem f arg0 shared", "shared"},
	{"release spin f arg0", "spin"},
	{"take work f arg0", "work"},
	{"release work f", "missing"},
	{"acquire work f", "missing"},
	{"release work f arg0 zero", "zero"},
	{"release work f arg0 stops", "stops"},
	{"stop spin f arg0", "spin"},
	{"stop irq f", "missing"},
	{"stop irq f arg0 stops", "stops"},
	{"take callback f arg0", "callback"},
	{"release work f arg0 shared", "shared"},
	{"acquire work f arg0 calls:+24", "calls:+24"},
	{"take spin f arg0 calls:+24", "calls:+24"},
	{"release work f arg0 calls:", "calls: is followed by"},
	{"release work f arg0 calls:24", "calls: is followed by"},
	{"release work f arg0 calls:+", "calls: is followed by"},
	{"release work f arg0 calls:+x", "calls: is followed by"},
	{"release work f arg0 calls:+1048577", "calls: is followed by"},
	{"release work f arg0 calls:+1|", "calls: is followed by"},
	{"release work f arg0 calls:+1|2", "calls: is followed by"},
	{"release work f arg0 calls:+1|+1048577", "calls: is followed by"},
	{"release work f arg0 calls:+1|+2|+3", "calls: is followed by"},
	{"release work f arg0 calls:arg6", "calls: is followed by"},
	{"release work f arg0 calls:arg00", "calls: is followed by"},
	{"take spin f123456789012345678901234567890123456789012345678901234567890123 arg0", "63"},
	{"release serial f arg0", "only a caller line can have the kind: serial"},
	{"acquire serial f arg0", "only a caller line can have the kind: serial"},
	{"stop serial f arg0", "only a caller line can have the kind: serial"},
	{"reuse f", "missing"},
	{"pass f", "missing"},
	{"new f also:", "name of a struct"},
	{"new f also:sk_buff", "name of a struct"},
	{"new f also:.head", "name of a struct"},
	{"new f also:sk_buff.", "name of a struct"},
	{"free f arg0 also:sk_buff.head", "also:"},
	{"pass spin f arg0", "arg5"},
	{"reuse f arg0 shared", "shared"},
	{"free f arg0 no-irq", "no-irq"},
};

/* One message names the file, the line and the word, and the list takes no line of the file. */
static void bad_lines_are_refused(void **state)
{
	struct lock_functions *l = *state;
	size_t before = lock_functions_count(l);

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char text[256];
		struct err err;

		snprintf(text, sizeof(text), "take spin good_lock arg0\n%s\n", bad[i].line);
		assert_int_equal(load_text(l, text, &err), -1);
		assert_int_equal(err.code, EXIT_INPUT);
		assert_non_null(strstr(err.text, ":2: "));
		if (!strstr(err.text, bad[i].says))
			fail_msg("of \"%s\" it is said: %s", bad[i].line, err.text);
		assert_null(strchr(err.text, '\n'));
		assert_int_equal(lock_functions_count(l), before);
		assert_null(find(l, "good_lock"));
	}
}

static void what_is_no_list_is_refused(void **state)
{
	static char large[(1u << 20) + 2];
	struct lock_functions *l = *state;
	struct err err = {0};

	assert_int_equal(lock_functions_load(l, "/nonexistent/list", &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_int_equal(load(l, "take\0spin", 9, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	memset(large, '\n', sizeof(large));
	assert_int_equal(load(l, large, sizeof(large), &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	/* A file without any function is a mistake too. */
	assert_int_equal(load(l, "", 0, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_int_equal(load_text(l, "# take spin f arg0\n\n", &err), -1);
	assert_non_null(strstr(err.text, "no lock function is in it"));
}

/* A file with two lines for one function is refused. A function and a variable may have the same name. */
static void one_line_a_name(void **state)
{
	struct lock_functions *l = *state;
	struct err err;

	assert_int_equal(load_text(l, "take spin f arg0\n\nouter mutex f\ngive spin f arg1\n", &err), -1);
	assert_non_null(strstr(err.text, ":4: line 1 has this name, too: f"));
	assert_null(find(l, "f"));
	assert_int_equal(load_text(l, "take spin f arg0\nouter mutex f\ntake mutex mutex_lock arg1\n", &err), 0);
	assert_int_equal(find(l, "f")->line, 1);
	assert_int_equal(find(l, "mutex_lock")->line, 3);
	assert_int_equal(find(l, "mutex_unlock")->line, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(own_list_says_what_linux_does, setup, teardown),
		cmocka_unit_test_setup_teardown(own_list_has_hand_overs, setup, teardown),
		cmocka_unit_test_setup_teardown(own_list_follows_who_gives_back, setup, teardown),
		cmocka_unit_test_setup_teardown(list_is_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(users_lines_add_and_replace, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_lines_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_list_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(one_line_a_name, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

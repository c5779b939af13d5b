// SPDX-License-Identifier: GPL-2.0-or-later
/* Locks that code outside of the subject took before it called the subject, and pairs of sites that they order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/detect/core/state.h"
#include "hv/detect/locks/outside.h"
#include "hv/detect/steer/handover_order.h"
#include "tests/unit/detect/detect_rig.h"

/* The site whose accesses are under the lock by a call of the subject, and the site whose callers may have taken it. */
#define UNDER (RIG_TEXT + 0x0u)
#define CALLED (RIG_TEXT + 0x100u)
#define LOCK (RIG_DATA + 0x40u)
#define DATUM (RIG_DATA + 0x80u)
#define OTHER_DATUM (RIG_DATA + 0x90u)
#define POLL 7
#define SENDER 8
#define TASK_STRUCT 0xffff888000004000u

struct fixture {
	struct rig *r;
	struct lock_sets sets;
	struct lock_events events;
	uint64_t number;
	uint64_t datum;
	uint8_t kind;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (!f)
		return -1;
	f->r = rig_new(2, 4);
	f->kind = LOCK_SPIN;
	f->datum = DATUM;
	return f->r && confirm_add(f->r->d->confirmer, UNDER, CALLED) ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rig_free(f->r);
	free(f);
	return 0;
}

static struct guest_context task(int32_t pid)
{
	return (struct guest_context){
		.known = true, .pid = pid, .kind = GUEST_TASK, .task = TASK_STRUCT + (uint64_t)pid * 0x1000};
}

static void set_word(struct fixture *f, uint64_t word)
{
	rig_store(f->r, LOCK - RIG_DATA, &word, sizeof(word));
}

static void accessed(struct fixture *f, uint64_t site, int32_t pid, const struct lockset *held)
{
	const struct guest_context context = task(pid);
	struct lock_hit hit = {.number = ++f->number,
			       .gva = f->datum,
			       .size = 8,
			       .rw = INSN_WRITE,
			       .who = {.who = pid, .cpu = pid == SENDER, .kind = GUEST_TASK},
			       .held = *held};
	struct confirm_lock locks[LOCKSET_MAX];
	unsigned n = confirm_locks(f->r->d, site, &hit, locks);

	outside_look(&f->r->guest, &f->sets, &context, locks, n, &hit);
	confirm_accessed(f->r->d, &f->events, site, &hit);
}

static void take(struct fixture *f, int32_t pid)
{
	const struct guest_context context = task(pid);
	const struct held_lock lock = {.gva = LOCK, .kind = f->kind, .taken_at = UNDER};

	lock_sets_take(&f->sets, pid == SENDER, &context, &lock, ++f->number);
	lock_events_add(&f->events,
			&(struct lock_event){.number = f->number, .gva = LOCK, .who = {.who = pid, .kind = GUEST_TASK}});
}

static void give(struct fixture *f, int32_t pid)
{
	const struct guest_context context = task(pid);

	lock_sets_give(&f->sets, pid == SENDER, &context, LOCK);
	lock_events_add(&f->events,
			&(struct lock_event){
				.number = ++f->number, .gva = LOCK, .who = {.who = pid, .kind = GUEST_TASK}, .give = true});
}

static void access_under(struct fixture *f)
{
	struct lockset held;
	const struct guest_context context = task(POLL);

	lock_sets_get(&f->sets, 0, &context, &held);
	accessed(f, UNDER, POLL, &held);
}

static void locked_access(struct fixture *f)
{
	take(f, POLL);
	set_word(f, f->kind == LOCK_SPIN ? 1 : task(POLL).task);
	access_under(f);
	give(f, POLL);
	set_word(f, 0);
}

/* The access of the site that was called with the lock's word like this. */
static void called_access(struct fixture *f, uint64_t word)
{
	set_word(f, word);
	accessed(f, CALLED, SENDER, &(struct lockset){0});
	set_word(f, 0);
}

static struct pair_order order(struct fixture *f)
{
	struct pair_order out;

	assert_true(confirm_order(f->r->d->confirmer, UNDER, CALLED, &out));
	return out;
}

static void lock_of_the_caller_is_an_order(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 8; i++) {
		locked_access(f);
		called_access(f, 1);
	}
	/* The first access has none before it. */
	assert_int_equal(order(f).by_locks, 15);
	assert_int_equal(order(f).none, 0);
}

static void free_lock_is_no_order(void **state)
{
	struct fixture *f = *state;

	locked_access(f);
	called_access(f, 0);
	assert_int_equal(order(f).none, 1);
	locked_access(f);
	assert_int_equal(order(f).none, 2);
	assert_int_equal(order(f).by_locks, 0);
}

static void lock_of_the_other_side_is_no_order(void **state)
{
	struct fixture *f = *state;

	take(f, POLL);
	set_word(f, 1);
	access_under(f);
	called_access(f, 1);
	assert_int_equal(order(f).none, 1);
	assert_int_equal(order(f).by_locks, 0);
}

static void waiter_proves_nothing(void **state)
{
	struct fixture *f = *state;

	locked_access(f);
	take(f, POLL);
	called_access(f, 1);
	set_word(f, 1);
	access_under(f);
	assert_int_equal(order(f).by_locks, 0);
	assert_int_equal(order(f).none, 0);
}

static void access_before_the_lock_is_known_proves_nothing(void **state)
{
	struct fixture *f = *state;

	called_access(f, 0);
	locked_access(f);
	assert_int_equal(order(f).none, 0);
	called_access(f, 0);
	assert_int_equal(order(f).none, 1);
}

/* Objects that are new each time: no lock is known yet at the first access to them. */
static void pair_that_was_seen_bare_is_bare_elsewhere(void **state)
{
	struct fixture *f = *state;

	locked_access(f);
	called_access(f, 0);
	assert_int_equal(order(f).none, 1);
	f->datum = OTHER_DATUM;
	called_access(f, 0);
	locked_access(f);
	assert_int_equal(order(f).none, 2);
}

static void mutex_of_another_task_is_no_order(void **state)
{
	struct fixture *f = *state;

	f->kind = LOCK_MUTEX;
	locked_access(f);
	called_access(f, task(SENDER).task | 1);
	assert_int_equal(order(f).by_locks, 1);
	locked_access(f);
	assert_int_equal(order(f).by_locks, 2);
	called_access(f, task(POLL).task);
	assert_int_equal(order(f).none, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lock_of_the_caller_is_an_order, setup, teardown),
		cmocka_unit_test_setup_teardown(free_lock_is_no_order, setup, teardown),
		cmocka_unit_test_setup_teardown(lock_of_the_other_side_is_no_order, setup, teardown),
		cmocka_unit_test_setup_teardown(waiter_proves_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(access_before_the_lock_is_known_proves_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(pair_that_was_seen_bare_is_bare_elsewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(mutex_of_another_task_is_no_order, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* What the process that holds a copy may report about its runs: a result, half of a result, wrong values, or nothing. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/replay/holder.h"
#include "hv/replay/orders.h"
#include "hv/replay/replay.h"
#include "tests/unit/replay/replay_made.h"

#define RAM_SIZE 0x10000u

static void write_all(int out, const struct replay_instance *instance)
{
	if (write(out, instance, sizeof(*instance)) != sizeof(*instance))
		_exit(1);
}

static void tell_the_truth(int out)
{
	const struct replay_instance instance = replay_made_change();

	write_all(out, &instance);
}

static void tell_half(int out)
{
	const struct replay_instance instance = replay_made_change();

	if (write(out, &instance, sizeof(instance) / 2) < 0)
		_exit(1);
}

static void tell_nothing(int out)
{
	(void)out;
}

static void tell_and_be_killed(int out)
{
	tell_the_truth(out);
	raise(SIGKILL);
}

static void be_killed(int out)
{
	(void)out;
	raise(SIGKILL);
}

static void tell_an_outcome_that_is_none(int out)
{
	struct replay_instance instance = replay_made_change();

	instance.outcome = (enum replay_outcome)77;
	write_all(out, &instance);
}

static void tell_more_differences_than_there_is_room_for(int out)
{
	struct replay_instance instance = replay_made_change();

	instance.kept = UINT32_MAX;
	instance.difference_count = UINT64_MAX;
	write_all(out, &instance);
}

static void tell_all_ones(int out)
{
	struct replay_instance instance;

	memset(&instance, 0xff, sizeof(instance));
	write_all(out, &instance);
}

/* Send a text without a terminating NUL, with control characters for a terminal. */
static void tell_a_text_that_steers(int out)
{
	struct replay_instance instance = replay_made_change();
	uint8_t neither = 2;

	memset(instance.orders[0].trouble, '\033', REPLAY_TEXT_MAX);
	memset(instance.differences[0].name, '\a', REPLAY_NAME_MAX);
	memcpy(&instance.differences[1].is_register, &neither, 1);
	write_all(out, &instance);
}

/* Without a state and without KVM, no run is possible. */
static void hold_without_a_state(int out)
{
	static const struct vm_state state;
	static const struct rendezvous rendezvous = {.sides = {{.cpu = 0}, {.cpu = 1}}};
	static const struct replay_config config = {.instructions = 10};
	struct run_plan plan = {.state = &state, .rendezvous = &rendezvous, .config = &config, .cpus = 2, .kvm_fd = -1};

	plan.ram.low = RAM_SIZE;
	plan.ram.host = mmap(NULL, RAM_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	holder_run_orders(&plan, NULL, out);
}

static struct replay_instance finish(void (*tell)(int out))
{
	struct replay_instance instance;
	struct replay_job job = {.go = -1};
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	job.pid = fork();
	assert_true(job.pid >= 0);
	if (job.pid == 0) {
		tell(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	job.fd = ends[0];
	replay_finish(&job, &instance);
	assert_int_equal(job.fd, -1);
	/* The process has ended and was reaped. */
	assert_int_equal(kill(job.pid, 0), -1);
	assert_null(replay_instance_wrong(&instance));
	return instance;
}

static void result_is_taken(void **state)
{
	const struct replay_instance wanted = replay_made_change();
	struct replay_instance got = finish(tell_the_truth);

	(void)state;
	assert_memory_equal(&got, &wanted, sizeof(got));
	/* After the whole result was received, the process's end does not matter. */
	got = finish(tell_and_be_killed);
	assert_memory_equal(&got, &wanted, sizeof(got));
}

static void check_not_run(void (*tell)(int out), const char *why)
{
	const struct replay_instance got = finish(tell);

	assert_int_equal(got.outcome, REPLAY_FAILURE);
	assert_int_equal(got.why, REPLAY_CANNOT_LOAD);
	assert_string_equal(got.why_text, why);
	assert_int_equal(got.difference_count, 0);
}

static void no_result_is_no_outcome(void **state)
{
	static const char died[] = "the process that held the copy died";

	(void)state;
	check_not_run(tell_nothing, died);
	check_not_run(tell_half, died);
	check_not_run(be_killed, died);
}

static void lies_are_no_outcome(void **state)
{
	static const char lies[] = "the process that held the copy sent an impossible result";

	(void)state;
	check_not_run(tell_an_outcome_that_is_none, lies);
	check_not_run(tell_more_differences_than_there_is_room_for, lies);
	check_not_run(tell_all_ones, lies);
}

static void texts_are_made_printable(void **state)
{
	const struct replay_instance got = finish(tell_a_text_that_steers);

	(void)state;
	assert_int_equal(got.outcome, REPLAY_STATE_CHANGE);
	assert_true(strlen(got.orders[0].trouble) < REPLAY_TEXT_MAX);
	assert_null(strchr(got.orders[0].trouble, '\033'));
	assert_null(strchr(got.differences[0].name, '\a'));
	assert_true(got.differences[1].is_register);
}

static void copy_that_cannot_be_made_is_told(void **state)
{
	const struct replay_instance got = finish(hold_without_a_state);

	(void)state;
	assert_int_equal(got.outcome, REPLAY_FAILURE);
	assert_int_equal(got.why, REPLAY_CANNOT_LOAD);
	assert_string_equal(got.why_text, "the state of the machine is not usable: it is truncated");
}

/* Only bytes that are still an INT3 of Outrider's are restored. Addresses outside of RAM are left alone. */
static void points_are_taken_out(void **state)
{
	static uint8_t bytes[RAM_SIZE];
	const struct ram ram = {.host = bytes, .low = RAM_SIZE};
	const struct rendezvous_point points[] = {{0x100, 0x8b}, {0x200, 0x89}, {RAM_SIZE, 0x90}, {UINT64_MAX, 0x90}};
	const struct rendezvous m = {.points = points, .point_count = 4};
	const struct replay_config config = {.loglevel_gpa = 0x300};
	int level;

	(void)state;
	bytes[0x100] = 0xcc;
	bytes[0x200] = 0x0f;
	orders_prepare_ram(&ram, &m, &config);
	assert_int_equal(bytes[0x100], 0x8b);
	assert_int_equal(bytes[0x200], 0x0f);
	memcpy(&level, bytes + 0x300, sizeof(level));
	assert_true(level > 7);
}

/* A held copy that is not needed any more is told so by a byte, and one that is let go by the end of the pipe. */
static void held_copy_is_forgotten_or_let_go(void **state)
{
	ssize_t *got = mmap(NULL, sizeof(*got), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(got, MAP_FAILED);
	for (int forget = 0; forget < 2; forget++) {
		struct replay_job job = {.fd = dup(STDERR_FILENO)};
		int go[2];
		char byte;

		assert_int_equal(pipe(go), 0);
		job.go = go[1];
		job.pid = fork();
		assert_true(job.pid >= 0);
		if (job.pid == 0) {
			close(go[1]);
			*got = read(go[0], &byte, 1);
			_exit(0);
		}
		close(go[0]);
		if (forget)
			replay_forget(&job);
		else
			replay_drop(&job);
		assert_int_equal(*got, forget);
		assert_int_equal(job.go, -1);
	}
	munmap(got, sizeof(*got));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(result_is_taken),
		cmocka_unit_test(no_result_is_no_outcome),
		cmocka_unit_test(lies_are_no_outcome),
		cmocka_unit_test(texts_are_made_printable),
		cmocka_unit_test(copy_that_cannot_be_made_is_told),
		cmocka_unit_test(points_are_taken_out),
		cmocka_unit_test(held_copy_is_forgotten_or_let_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

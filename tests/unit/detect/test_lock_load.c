// SPDX-License-Identifier: GPL-2.0-or-later
/* When following locks is told to leave a CPU no time, by where the CPU stopped and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/detect/locks/lock_load.h"

#define SECOND 1000000000ull
#define STEP (SECOND / 100)

static const struct guest_context task = {.known = true, .pid = 14, .task = 0xffff888000001000u, .kind = GUEST_TASK};
static const struct guest_context softirq = {.known = true, .pid = 14, .task = 0xffff888000001000u, .kind = GUEST_SOFTIRQ};
static const struct guest_context hardirq = {.known = true, .pid = 14, .task = 0xffff888000001000u, .kind = GUEST_HARDIRQ};
static const struct guest_context other = {.known = true, .pid = 15, .task = 0xffff888000002000u, .kind = GUEST_HARDIRQ};
static const struct guest_context idle = {.known = true, .pid = 0, .task = 0xffff888000003000u, .kind = GUEST_HARDIRQ};
static const struct guest_context unknown = {.known = false, .pid = -1};

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct lock_load));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	lock_load_fini(*state);
	free(*state);
	return 0;
}

/* A hundred stops a second from `from` on, of CPU 1. Returns when the last one was. */
static uint64_t stops(struct lock_load *l, const struct guest_context *context, uint64_t from, unsigned seconds)
{
	uint64_t now = from;

	for (; now <= from + seconds * SECOND; now += STEP)
		lock_load_stop(l, 1, context, now);
	return now;
}

static void nothing_but_interrupts(void **state)
{
	struct lock_load *l = *state;
	uint64_t now = stops(l, &hardirq, SECOND, 3);

	assert_false(l->too_much);
	now = stops(l, &softirq, now, 2);
	assert_true(l->too_much);

	lock_load_rest(l, now);
	assert_false(l->too_much);
	assert_true(l->rest_until_ns > now);
	now = stops(l, &hardirq, l->rest_until_ns, 3);
	assert_false(l->too_much);
	stops(l, &hardirq, now, 2);
	assert_true(l->too_much);
}

static void idle_cpu_has_more_time(void **state)
{
	struct lock_load *l = *state;
	uint64_t now = stops(l, &idle, SECOND, 7);

	assert_false(l->too_much);
	stops(l, &idle, now, 2);
	assert_true(l->too_much);
}

/* A stop that shows that the CPU gets on, in the middle of two times three seconds of interrupts. */
static bool too_much_around(struct lock_load *l, const struct guest_context *between)
{
	uint64_t now = stops(l, &hardirq, SECOND, 3);

	lock_load_stop(l, 1, between, now);
	stops(l, &hardirq, now + STEP, 3);
	return l->too_much;
}

static void task_gets_on(void **state)
{
	assert_false(too_much_around(*state, &task));
}

static void another_task_is_interrupted(void **state)
{
	assert_false(too_much_around(*state, &other));
}

static void unknown_context_proves_nothing(void **state)
{
	assert_false(too_much_around(*state, &unknown));
}

static void gap_is_time_for_others(void **state)
{
	struct lock_load *l = *state;
	uint64_t now = stops(l, &hardirq, SECOND, 3);

	stops(l, &hardirq, now + SECOND, 3);
	assert_false(l->too_much);
}

static void cpus_count_on_their_own(void **state)
{
	struct lock_load *l = *state;

	for (uint64_t now = SECOND; now < 12 * SECOND; now += STEP) {
		lock_load_stop(l, 0, &task, now);
		lock_load_stop(l, 1, &hardirq, now);
	}
	assert_true(l->too_much);
}

static void sites_come_and_go(void **state)
{
	struct lock_load *l = *state;

	for (unsigned i = 0; i < 200; i++) {
		const struct guest_hook_site site = {.kind = GUEST_HOOK_LOCK, .insn = {.addr = 0x1000 + 0x10 * i}};

		assert_int_equal(lock_load_add(l, &site), 0);
	}
	assert_int_equal(l->count, 200);
	lock_load_forget(l, 0x1000, 0x10 * 150);
	assert_int_equal(l->count, 50);
	assert_int_equal(l->sites[0].insn.addr, 0x1000 + 0x10 * 150);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_but_interrupts, setup, teardown),
		cmocka_unit_test_setup_teardown(idle_cpu_has_more_time, setup, teardown),
		cmocka_unit_test_setup_teardown(task_gets_on, setup, teardown),
		cmocka_unit_test_setup_teardown(another_task_is_interrupted, setup, teardown),
		cmocka_unit_test_setup_teardown(unknown_context_proves_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(gap_is_time_for_others, setup, teardown),
		cmocka_unit_test_setup_teardown(cpus_count_on_their_own, setup, teardown),
		cmocka_unit_test_setup_teardown(sites_come_and_go, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

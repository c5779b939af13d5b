// SPDX-License-Identifier: GPL-2.0-or-later
/* Which context holds which locks, as the calls say that a CPU makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/detect/locks/lock_sets.h"

#define LOCK_A 0xffff888000001000u
#define LOCK_B 0xffff888000002000u
#define CALL 0xffffffffc0000100u

static const struct guest_context task_7 = {.known = true, .pid = 7, .kind = GUEST_TASK};
static const struct guest_context task_8 = {.known = true, .pid = 8, .kind = GUEST_TASK};
static const struct guest_context idle = {.known = true, .pid = 0, .kind = GUEST_TASK};
static const struct guest_context softirq = {.known = true, .pid = 7, .kind = GUEST_SOFTIRQ};
static const struct guest_context hardirq = {.known = true, .pid = 7, .kind = GUEST_HARDIRQ};
static const struct guest_context unknown = {.known = false, .pid = -1};

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct lock_sets));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void take(struct lock_sets *s, unsigned cpu, const struct guest_context *context, uint64_t gva)
{
	const struct held_lock lock = {.gva = gva, .taken_at = CALL, .kind = LOCK_SPIN};

	lock_sets_seen(s, cpu, context);
	lock_sets_take(s, cpu, context, &lock, 1);
}

static unsigned held(struct lock_sets *s, unsigned cpu, const struct guest_context *context)
{
	struct lockset set;

	lock_sets_seen(s, cpu, context);
	lock_sets_get(s, cpu, context, &set);
	return set.count;
}

static bool not_known(struct lock_sets *s, unsigned cpu, const struct guest_context *context)
{
	struct lockset set;

	lock_sets_get(s, cpu, context, &set);
	return set.overflow;
}

static void tasks_set_stays_with_it_across_cpus(void **state)
{
	struct lock_sets *s = *state;

	take(s, 0, &task_7, LOCK_A);
	assert_int_equal(held(s, 0, &task_8), 0);
	assert_int_equal(held(s, 1, &task_7), 1);
	lock_sets_give(s, 1, &task_7, LOCK_A);
	assert_int_equal(held(s, 1, &task_7), 0);
}

static void idle_tasks_of_two_cpus_are_two(void **state)
{
	struct lock_sets *s = *state;

	take(s, 0, &idle, LOCK_A);
	assert_int_equal(held(s, 0, &idle), 1);
	assert_int_equal(held(s, 1, &idle), 0);
}

static void interrupt_starts_with_none(void **state)
{
	struct lock_sets *s = *state;

	take(s, 0, &task_7, LOCK_A);
	assert_int_equal(held(s, 0, &softirq), 0);
	take(s, 0, &softirq, LOCK_B);
	assert_int_equal(held(s, 0, &hardirq), 0);
	assert_int_equal(held(s, 0, &softirq), 1);
	assert_int_equal(held(s, 1, &softirq), 0);
	lock_sets_give(s, 0, &softirq, LOCK_B);
	assert_int_equal(held(s, 0, &task_7), 1);
}

/* A lock that an interrupt took, and another context released, does not last into the next interrupt. */
static void interrupt_that_is_over_holds_nothing(void **state)
{
	struct lock_sets *s = *state;

	take(s, 0, &hardirq, LOCK_A);
	assert_int_equal(held(s, 1, &task_8), 0);
	assert_int_equal(held(s, 0, &hardirq), 1);
	assert_int_equal(held(s, 0, &task_7), 0);
	assert_int_equal(held(s, 0, &hardirq), 0);
}

static void last_one_taken_is_given_back_first(void **state)
{
	struct lock_sets *s = *state;
	struct held_lock lock = {.gva = LOCK_A, .taken_at = CALL, .kind = LOCK_RWSEM, .shared = true};
	struct lockset set;

	lock_sets_take(s, 0, &task_7, &lock, 1);
	lock.taken_at = CALL + 5;
	lock_sets_take(s, 0, &task_7, &lock, 2);
	lock_sets_give(s, 0, &task_7, LOCK_A);
	lock_sets_get(s, 0, &task_7, &set);
	assert_int_equal(set.count, 1);
	assert_int_equal(set.held[0].taken_at, CALL);
	assert_true(set.held[0].shared);
}

static void lock_is_given_away(void **state)
{
	struct lock_sets *s = *state;

	take(s, 0, &task_7, LOCK_A);
	take(s, 1, &task_8, LOCK_B);
	lock_sets_give(s, 1, &task_8, LOCK_A);
	assert_int_equal(held(s, 0, &task_7), 0);
	assert_int_equal(held(s, 1, &task_8), 1);
}

/* A context that releases a lock of several holders may have taken it before the detector looked. */
static void lock_of_several_is_given_by_one_of_them(void **state)
{
	static const enum lock_kind kinds[] = {LOCK_RWSEM, LOCK_SEMAPHORE};
	struct lock_sets *s = *state;

	for (unsigned i = 0; i < 2; i++) {
		const struct held_lock lock = {
			.gva = LOCK_A, .taken_at = CALL, .kind = (uint8_t)kinds[i], .shared = kinds[i] == LOCK_RWSEM};
		struct lockset set;

		lock_sets_take(s, 0, &task_7, &lock, 1);
		lock_sets_give(s, 1, &task_8, LOCK_A);
		lock_sets_get(s, 0, &task_7, &set);
		assert_int_equal(set.count, 1);
		assert_true(set.held[0].maybe);
		lock_sets_give(s, 0, &task_7, LOCK_A);
		assert_int_equal(held(s, 0, &task_7), 0);
	}
}

static void result_says_whether_it_was_taken(void **state)
{
	struct lock_sets *s = *state;
	const struct held_lock lock = {.gva = LOCK_A, .taken_at = CALL, .kind = LOCK_SPIN, .maybe = true};
	struct lockset set;

	take(s, 0, &task_7, LOCK_B);
	lock_sets_take(s, 0, &task_7, &lock, 2);
	lock_sets_tried(s, 0, &task_8, CALL, false, true); /* another task's result */
	lock_sets_tried(s, 0, &task_7, CALL + 5, false, true);
	assert_int_equal(held(s, 0, &task_7), 2);
	lock_sets_tried(s, 0, &task_7, CALL, false, true);
	assert_int_equal(held(s, 0, &task_7), 1);
	/* There is no try any more, and LOCK_B, which was taken by a call there too, was not tried. */
	lock_sets_tried(s, 0, &task_7, CALL, false, true);
	assert_int_equal(held(s, 0, &task_7), 1);
	lock_sets_take(s, 0, &task_7, &lock, 3);
	lock_sets_tried(s, 0, &task_7, CALL, true, false);
	lock_sets_get(s, 0, &task_7, &set);
	assert_true(set.held[1].maybe);
	lock_sets_tried(s, 0, &task_7, CALL, true, true);
	lock_sets_get(s, 0, &task_7, &set);
	assert_int_equal(set.count, 2);
	assert_false(set.held[1].maybe);
}

static void lock_may_be_kept_as_a_reader(void **state)
{
	struct lock_sets *s = *state;
	struct lockset set;

	take(s, 0, &task_7, LOCK_A);
	take(s, 0, &task_7, LOCK_B);
	lock_sets_share(s, 1, &task_8, LOCK_A);
	lock_sets_share(s, 0, &task_7, LOCK_A);
	lock_sets_get(s, 0, &task_7, &set);
	assert_int_equal(set.count, 2);
	assert_true(set.held[0].shared);
	assert_false(set.held[1].shared);
}

static void lock_that_is_taken_anew_was_given_back(void **state)
{
	struct lock_sets *s = *state;

	take(s, 0, &task_7, LOCK_A);
	take(s, 0, &task_7, LOCK_B);
	lock_sets_anew(s, 0, &task_8, LOCK_A);
	assert_int_equal(held(s, 0, &task_7), 2);
	lock_sets_anew(s, 0, &task_7, LOCK_A);
	assert_int_equal(held(s, 0, &task_7), 1);
}

static void more_than_fit_are_counted(void **state)
{
	struct lock_sets *s = *state;

	for (unsigned i = 0; i < LOCKSET_MAX + 2; i++)
		take(s, 0, &task_7, LOCK_A + 8 * i);
	assert_int_equal(held(s, 0, &task_7), LOCKSET_MAX);
	assert_true(not_known(s, 0, &task_7));
	lock_sets_give(s, 0, &task_7, LOCK_A + 8 * (LOCKSET_MAX + 1));
	assert_true(not_known(s, 0, &task_7));
	lock_sets_give(s, 0, &task_7, LOCK_A + 8 * LOCKSET_MAX);
	assert_false(not_known(s, 0, &task_7));
	assert_int_equal(held(s, 0, &task_7), LOCKSET_MAX);
}

static void more_contexts_than_fit_make_all_unknown(void **state)
{
	struct lock_sets *s = *state;
	struct guest_context task = task_7;

	assert_false(not_known(s, 0, &task_8));
	for (unsigned i = 0; i <= LOCK_CONTEXTS_MAX; i++) {
		task.pid = 100 + (int32_t)i;
		take(s, 0, &task, LOCK_A + 8 * i);
	}
	task.pid = 100;
	assert_true(not_known(s, 0, &task)); /* it may be one of those whose lock is in no entry */
	assert_true(not_known(s, 0, &task_8));
}

static void nothing_is_known_of_an_unknown_context(void **state)
{
	struct lock_sets *s = *state;

	assert_true(not_known(s, 0, &unknown));
	take(s, 0, &task_7, LOCK_A);
	assert_int_equal(held(s, 0, &unknown), 0);
	assert_int_equal(held(s, 0, &task_7), 1);
}

static void locks_of_text_that_goes_are_forgotten(void **state)
{
	struct lock_sets *s = *state;

	take(s, 0, &task_7, LOCK_A);
	assert_int_equal(lock_sets_text_gone(s, CALL + 0x1000, 0x1000), 0);
	assert_int_equal(lock_sets_text_gone(s, CALL - 0x100, 0x1000), 1);
	assert_int_equal(held(s, 0, &task_7), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tasks_set_stays_with_it_across_cpus, setup, teardown),
		cmocka_unit_test_setup_teardown(idle_tasks_of_two_cpus_are_two, setup, teardown),
		cmocka_unit_test_setup_teardown(interrupt_starts_with_none, setup, teardown),
		cmocka_unit_test_setup_teardown(interrupt_that_is_over_holds_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(last_one_taken_is_given_back_first, setup, teardown),
		cmocka_unit_test_setup_teardown(lock_is_given_away, setup, teardown),
		cmocka_unit_test_setup_teardown(lock_of_several_is_given_by_one_of_them, setup, teardown),
		cmocka_unit_test_setup_teardown(result_says_whether_it_was_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(lock_may_be_kept_as_a_reader, setup, teardown),
		cmocka_unit_test_setup_teardown(lock_that_is_taken_anew_was_given_back, setup, teardown),
		cmocka_unit_test_setup_teardown(more_than_fit_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(more_contexts_than_fit_make_all_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_is_known_of_an_unknown_context, setup, teardown),
		cmocka_unit_test_setup_teardown(locks_of_text_that_goes_are_forgotten, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

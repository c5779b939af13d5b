// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether locks that were given on between two accesses put them in order. Moments are numbered as they come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/detect/steer/lock_order.h"

#define LOCK_A 0xffff888000001000u
#define LOCK_B 0xffff888000002000u
#define DATUM 0xffff888000003000u

static const struct lock_who one = {.who = 7, .cpu = 0}, other = {.who = 8, .cpu = 1}, third = {.who = 9, .cpu = 1};
static const struct lock_who softirq = {.who = -2, .cpu = 1, .kind = GUEST_SOFTIRQ};

struct fixture {
	struct lock_events events;
	uint64_t number;
};

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void call(struct fixture *f, const struct lock_who *who, uint64_t gva, bool give, bool shared)
{
	lock_events_add(&f->events,
			&(struct lock_event){.number = ++f->number, .gva = gva, .who = *who, .give = give, .shared = shared});
}

static void take(struct fixture *f, const struct lock_who *who, uint64_t gva)
{
	call(f, who, gva, false, false);
}

static void give(struct fixture *f, const struct lock_who *who, uint64_t gva)
{
	call(f, who, gva, true, false);
}

static struct lock_hit hit(struct fixture *f, const struct lock_who *who)
{
	return (struct lock_hit){.number = ++f->number, .gva = DATUM, .size = 8, .who = *who};
}

static void lock_given_on_is_an_order(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one), second;

	take(f, &one, LOCK_A);
	give(f, &one, LOCK_A);
	take(f, &other, LOCK_A);
	give(f, &other, LOCK_A);
	second = hit(f, &other);
	assert_int_equal(lock_order(&f->events, &first, &second), LOCK_ORDER_LOCKS);
}

static void lock_given_back_before_the_access_is_none(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first, second;

	take(f, &one, LOCK_A);
	give(f, &one, LOCK_A);
	first = hit(f, &one);
	take(f, &other, LOCK_A);
	give(f, &other, LOCK_A);
	second = hit(f, &other);
	assert_int_equal(lock_order(&f->events, &first, &second), LOCK_ORDER_NONE);
}

static void access_before_the_lock_is_not_ordered(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first, second;

	take(f, &one, LOCK_A);
	first = hit(f, &one);
	give(f, &one, LOCK_A);
	second = hit(f, &other);
	take(f, &other, LOCK_A);
	assert_int_equal(lock_order(&f->events, &first, &second), LOCK_ORDER_NONE);
}

static void two_locks_are_no_order(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first, second;

	take(f, &one, LOCK_A);
	first = hit(f, &one);
	give(f, &one, LOCK_A);
	take(f, &other, LOCK_B);
	second = hit(f, &other);
	assert_int_equal(lock_order(&f->events, &first, &second), LOCK_ORDER_NONE);
}

static void chain_through_a_third_is_an_order(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one), second;

	take(f, &one, LOCK_A);
	give(f, &one, LOCK_A);
	take(f, &third, LOCK_A);
	give(f, &third, LOCK_A);
	take(f, &third, LOCK_B);
	give(f, &third, LOCK_B);
	take(f, &other, LOCK_B);
	give(f, &other, LOCK_B);
	second = hit(f, &other);
	assert_int_equal(lock_order(&f->events, &first, &second), LOCK_ORDER_LOCKS);
	/* The same steps in an order that leads nowhere. */
	first = hit(f, &one);
	take(f, &third, LOCK_B);
	give(f, &third, LOCK_B);
	take(f, &other, LOCK_B);
	give(f, &other, LOCK_B);
	take(f, &one, LOCK_A);
	give(f, &one, LOCK_A);
	take(f, &third, LOCK_A);
	give(f, &third, LOCK_A);
	second = hit(f, &other);
	assert_int_equal(lock_order(&f->events, &first, &second), LOCK_ORDER_NONE);
}

/* The call that waits comes before the one that lets it go on. */
static void who_waited_comes_after_who_gave(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first, second;

	take(f, &one, LOCK_A);
	first = hit(f, &one);
	take(f, &other, LOCK_A);
	give(f, &one, LOCK_A);
	second = hit(f, &other);
	second.held.count = 1;
	second.held.held[0].gva = LOCK_A;
	assert_int_equal(lock_order(&f->events, &first, &second), LOCK_ORDER_LOCKS);
	give(f, &other, LOCK_A);
	second = hit(f, &other);
	assert_int_equal(lock_order(&f->events, &first, &second), LOCK_ORDER_LOCKS);
}

static void two_readers_are_no_order(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one), second;

	call(f, &one, LOCK_A, false, true);
	call(f, &one, LOCK_A, true, true);
	call(f, &other, LOCK_A, false, true);
	call(f, &other, LOCK_A, true, true);
	second = hit(f, &other);
	assert_int_equal(lock_order(&f->events, &first, &second), LOCK_ORDER_NONE);
	first = hit(f, &one);
	call(f, &one, LOCK_A, true, true);
	take(f, &other, LOCK_A);
	give(f, &other, LOCK_A);
	second = hit(f, &other);
	assert_int_equal(lock_order(&f->events, &first, &second), LOCK_ORDER_LOCKS);
}

/* The softirq that took the lock is over when its CPU is back in a task, and the next one is another. */
static void next_interrupt_is_another(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one), second;

	take(f, &one, LOCK_A);
	give(f, &one, LOCK_A);
	take(f, &softirq, LOCK_A);
	give(f, &softirq, LOCK_A);
	second = hit(f, &softirq);
	assert_int_equal(lock_order(&f->events, &first, &second), LOCK_ORDER_LOCKS);
	take(f, &other, LOCK_B);
	give(f, &other, LOCK_B);
	second = hit(f, &softirq);
	assert_int_equal(lock_order(&f->events, &first, &second), LOCK_ORDER_NONE);
}

static void what_is_not_known_is_not_judged(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one), second;

	second = hit(f, &other);
	second.held.overflow = true;
	assert_int_equal(lock_order(&f->events, &first, &second), LOCK_ORDER_UNKNOWN);
	second.held.overflow = false;
	assert_int_equal(lock_order(&f->events, &first, &second), LOCK_ORDER_NONE);
	lock_events_hole(&f->events, f->number);
	assert_int_equal(lock_order(&f->events, &first, &second), LOCK_ORDER_UNKNOWN);
}

static void access_before_all_that_is_kept_is_not_judged(void **state)
{
	struct fixture *f = *state;
	struct lock_hit first = hit(f, &one), second;

	for (unsigned i = 0; i < LOCK_EVENTS_KEPT; i++)
		take(f, &third, LOCK_B);
	second = hit(f, &other);
	assert_int_equal(lock_order(&f->events, &first, &second), LOCK_ORDER_NONE);
	take(f, &third, LOCK_B);
	second = hit(f, &other);
	assert_int_equal(lock_order(&f->events, &first, &second), LOCK_ORDER_UNKNOWN);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lock_given_on_is_an_order),
		TEST(lock_given_back_before_the_access_is_none),
		TEST(access_before_the_lock_is_not_ordered),
		TEST(two_locks_are_no_order),
		TEST(chain_through_a_third_is_an_order),
		TEST(who_waited_comes_after_who_gave),
		TEST(two_readers_are_no_order),
		TEST(next_interrupt_is_another),
		TEST(what_is_not_known_is_not_judged),
		TEST(access_before_all_that_is_kept_is_not_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

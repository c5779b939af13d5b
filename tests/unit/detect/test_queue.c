/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queue of observations gives them out in the order in which they came, and no more than there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hv/detect/core/queue.h"

static struct observation_queue queue;

static int setup(void **state)
{
	(void)state;
	return queue_init(&queue);
}

static int teardown(void **state)
{
	(void)state;
	queue_fini(&queue);
	return 0;
}

static void test_empty(void **state)
{
	(void)state;
	assert_null(queue_next(&queue));
}

static void test_taken_does_not_wait(void **state)
{
	struct observation *o = queue_take(&queue);

	(void)state;
	assert_non_null(o);
	assert_null(queue_next(&queue));
	queue_put(&queue, o);
	assert_ptr_equal(queue_next(&queue), o);
	assert_null(queue_next(&queue));
}

/* Nothing may be taken for known that is of the observation before in the same place. */
static void test_taken_is_fresh(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * QUEUE_MAX; i++) {
		struct observation *o = queue_take(&queue);

		assert_non_null(o);
		assert_false(o->sides[0].kind == RACE_SIDE_CPU);
		assert_false(o->sides[1].kind == RACE_SIDE_CPU);
		o->sides[0].kind = o->sides[1].kind = RACE_SIDE_CPU;
		queue_give_back(&queue, o);
	}
}

static void test_runs_out(void **state)
{
	struct observation *o = NULL;

	(void)state;
	for (unsigned i = 0; i < QUEUE_MAX; i++) {
		o = queue_take(&queue);
		assert_non_null(o);
	}
	assert_null(queue_take(&queue));
	queue_give_back(&queue, o);
	assert_ptr_equal(queue_take(&queue), o);
}

/* The ring goes around many times, at the end with as many waiting as there can be. */
static void test_order(void **state)
{
	uint64_t put = 0, reported = 0;

	(void)state;
	for (unsigned step = 0; step < 10 * QUEUE_MAX; step++) {
		struct observation *o = queue_take(&queue);

		if (!o || step % 5 == 4) {
			struct observation *next = queue_next(&queue);

			assert_non_null(next);
			assert_int_equal(next->time_ns, reported++);
			queue_give_back(&queue, next);
		}
		if (!o)
			continue;
		o->time_ns = put++;
		queue_put(&queue, o);
	}
	for (struct observation *o = queue_next(&queue); o; o = queue_next(&queue))
		assert_int_equal(o->time_ns, reported++);
	assert_int_equal(reported, put);
	assert_true(put > 5 * QUEUE_MAX);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_empty), T(test_taken_does_not_wait), T(test_taken_is_fresh), T(test_runs_out), T(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

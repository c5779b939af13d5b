/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Yields: functions whose hits open no window get fewer sample points, and never none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hv/detect/steer/yield.h"

#define TRIES 8000u
#define FUNCTION 0xffffffff81000000ull

static struct yields yields;

static int setup(void **state)
{
	(void)state;
	yields_init(&yields, 1);
	return 0;
}

static void count(uint64_t function, unsigned hits, unsigned windows)
{
	for (unsigned i = 0; i < hits; i++)
		yields_count(&yields, function, i < windows);
}

/* Returns how many of TRIES sites in the function are passed over. */
static unsigned passed_over(uint64_t function)
{
	unsigned n = 0;

	for (unsigned i = 0; i < TRIES; i++)
		n += yields_pass_over(&yields, function);
	return n;
}

static void test_unknown_is_never_passed_over(void **state)
{
	(void)state;
	assert_int_equal(passed_over(FUNCTION), 0);
	count(0, 10, 0);
	assert_int_equal(passed_over(0), 0);
}

static void test_always_a_window(void **state)
{
	(void)state;
	count(FUNCTION, 1000, 1000);
	assert_int_equal(passed_over(FUNCTION), 0);
}

static void test_never_a_window(void **state)
{
	unsigned n;

	(void)state;
	count(FUNCTION, 1000, 0);
	n = passed_over(FUNCTION);
	assert_in_range(n, TRIES / 2 - TRIES / 20, TRIES / 2 + TRIES / 20);
}

static void test_first_miss_decides_little(void **state)
{
	unsigned n;

	(void)state;
	count(FUNCTION, 1, 0);
	n = passed_over(FUNCTION);
	assert_in_range(n, TRIES / 2 - TRIES / 20, TRIES / 2 + TRIES / 20);
}

/* Code that could not be held, and can be now, is soon sampled as other code is. */
static void test_recent_hits_count_most(void **state)
{
	unsigned before;

	(void)state;
	count(FUNCTION, 1000, 0);
	before = passed_over(FUNCTION);
	count(FUNCTION, 200, 200);
	assert_true(passed_over(FUNCTION) < before / 8);
}

/* The later of two functions that share an entry replaces the earlier one, which is then unknown again. */
static void test_functions_that_share_an_entry(void **state)
{
	unsigned known = 0;

	(void)state;
	for (uint64_t i = 0; i < 4 * YIELD_FUNCTIONS; i++)
		count(FUNCTION + 16 * i, 100, 0);
	for (uint64_t i = 0; i < 4 * YIELD_FUNCTIONS; i++)
		known += passed_over(FUNCTION + 16 * i) > 0;
	assert_in_range(known, 1, YIELD_FUNCTIONS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_unknown_is_never_passed_over, setup),
		cmocka_unit_test_setup(test_always_a_window, setup),
		cmocka_unit_test_setup(test_never_a_window, setup),
		cmocka_unit_test_setup(test_first_miss_decides_little, setup),
		cmocka_unit_test_setup(test_recent_hits_count_most, setup),
		cmocka_unit_test_setup(test_functions_that_share_an_entry, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

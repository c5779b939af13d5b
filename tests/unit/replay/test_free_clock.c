// SPDX-License-Identifier: GPL-2.0-or-later
/* How long a free run lasts on a host that has other things to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hv/replay/free_clock.h"

#define T UINT64_C(2000000000)

static void idle_host_takes_no_more(void **state)
{
	(void)state;
	assert_true(free_clock_left(T, 0, 0) == T);
	assert_true(free_clock_left(T, T / 2, 0) == T / 2);
	assert_true(free_clock_left(T, T, 0) == 0);
	assert_true(free_clock_left(T, 10 * T, 0) == 0);
}

static void waiting_does_not_count(void **state)
{
	(void)state;
	assert_true(free_clock_left(T, T, T / 2) == T / 2);
	assert_true(free_clock_left(T, 2 * T, T) == 0);
	/* It waited for all of the time. */
	assert_true(free_clock_left(T, T, T) == T);
}

/* The guest may write any number there, and a host may be busy for ever. */
static void wait_has_a_limit(void **state)
{
	(void)state;
	assert_true(free_clock_left(T, 0, UINT64_MAX) == FREE_CLOCK_STRETCH * T);
	assert_true(free_clock_left(T, FREE_CLOCK_STRETCH * T - 1, UINT64_MAX) == 1);
	assert_true(free_clock_left(T, FREE_CLOCK_STRETCH * T, UINT64_MAX) == 0);
	assert_true(free_clock_left(T, 3 * T, 3 * T) == T);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_host_takes_no_more),
		cmocka_unit_test(waiting_does_not_count),
		cmocka_unit_test(wait_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

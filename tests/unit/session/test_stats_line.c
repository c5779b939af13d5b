/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line of --stats-every: rates since the last line, and the time of the next line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hv/session/stats_line.h"

#define SECOND UINT64_C(1000000000)

static struct stats_sample sample(uint64_t seconds, uint64_t hits, uint64_t windows, size_t races, uint64_t lost_ns)
{
	return (struct stats_sample){.stats = {.sampling_ns = seconds * SECOND,
					       .hits = hits,
					       .windows = windows,
					       .sites = 7,
					       .cpus = 2,
					       .target = {.lost_ns = lost_ns}},
				     .races = races};
}

static void each_line_is_of_its_own_time(void **state)
{
	const struct stats_sample first = sample(10, 1000, 500, 3, SECOND), second = sample(20, 1010, 500, 3, SECOND);
	struct stats_line p = {.every_ns = 10 * SECOND};
	char line[STATS_LINE_MAX];

	(void)state;
	stats_line_make(&p, &first, line);
	assert_string_equal(
		line, "10 s sampled: 100.0 hits/s of 7 sites, 50.0 windows/s, 3 races (3 new), cost 5.0 % of the CPUs' time");
	stats_line_make(&p, &second, line);
	assert_string_equal(
		line, "20 s sampled: 1.0 hits/s of 7 sites, 0.0 windows/s, 3 races (0 new), cost 0.0 % of the CPUs' time");
}

static void lines_come_at_their_times(void **state)
{
	const struct stats_sample late = sample(27, 1, 1, 1, 1);
	struct stats_line p = {.every_ns = 10 * SECOND}, none = {0};
	char line[STATS_LINE_MAX];

	(void)state;
	assert_false(stats_line_is_due(&none, 100 * SECOND));
	assert_false(stats_line_is_due(&p, 10 * SECOND - 1));
	assert_true(stats_line_is_due(&p, 10 * SECOND));
	stats_line_make(&p, &late, line);
	assert_false(stats_line_is_due(&p, 30 * SECOND - 1));
	assert_true(stats_line_is_due(&p, 30 * SECOND));
}

/* A target may report no lost time, and two readings of the counts may have the same time. */
static void nothing_is_divided_by_nothing(void **state)
{
	struct stats_sample now = sample(0, 5, 5, 0, 5);
	struct stats_line p = {.every_ns = SECOND};
	char line[STATS_LINE_MAX];

	(void)state;
	now.stats.cpus = 0;
	stats_line_make(&p, &now, line);
	assert_string_equal(line,
			    "0 s sampled: 0.0 hits/s of 7 sites, 0.0 windows/s, 0 races (0 new), cost 0.0 % of the CPUs' time");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_is_of_its_own_time),
		cmocka_unit_test(lines_come_at_their_times),
		cmocka_unit_test(nothing_is_divided_by_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random schedules: the places for change points, the choice, and the probability. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "hv/explore/walk.h"

#define CANDIDATES 3

static struct explore_candidate of(uint32_t a, uint32_t b)
{
	return (struct explore_candidate){.side = {{.access = {.at = a}}, {.access = {.at = b}}}};
}

static void a_place_is_counted_once(void **state)
{
	const struct explore_candidate all[CANDIDATES] = {of(5, 1), of(3, 1), of(5, 2)};
	struct walk_places p;

	(void)state;
	assert_int_equal(walk_find_places(&p, all, CANDIDATES), 0);
	assert_int_equal(p.count, 4);
	/* Sorted by side, and by time. */
	assert_int_equal(p.place[0].side, 0);
	assert_int_equal(p.place[0].at.access.at, 3);
	assert_int_equal(p.place[1].at.access.at, 5);
	assert_int_equal(p.place[2].side, 1);
	assert_int_equal(p.place[2].at.access.at, 1);
	assert_int_equal(p.place[3].at.access.at, 2);
	walk_places_free(&p);
}

static void late_candidates_count_only_if_there_are_no_others(void **state)
{
	struct explore_candidate all[CANDIDATES] = {of(5, 1), of(3, 2), of(7, 4)};
	struct walk_places p;

	(void)state;
	all[0].common_lock = true;
	all[2].baseline = 2;
	assert_int_equal(walk_find_places(&p, all, CANDIDATES), 0);
	assert_int_equal(p.count, 2);
	assert_int_equal(p.place[0].at.access.at, 3);
	walk_places_free(&p);
	all[1].locked = true;
	assert_int_equal(walk_find_places(&p, all, CANDIDATES), 0);
	assert_int_equal(p.count, 6);
	walk_places_free(&p);
	assert_int_equal(walk_find_places(&p, all, 0), 0);
	assert_int_equal(p.count, 0);
	walk_places_free(&p);
}

static void a_seed_gives_the_same_schedules(void **state)
{
	const struct explore_candidate all[CANDIDATES] = {of(5, 1), of(3, 2), of(7, 4)};
	struct rng one = {7}, again = {7};
	bool both_first[2] = {false, false};
	struct walk_places p;

	(void)state;
	assert_int_equal(walk_find_places(&p, all, CANDIDATES), 0);
	for (unsigned i = 0; i < 100; i++) {
		struct explore_walk w, v;

		walk_choose(&p, 4, &one, &w);
		walk_choose(&p, 4, &again, &v);
		assert_int_equal(w.count, 3);
		assert_int_equal(w.first, v.first);
		both_first[w.first] = true;
		for (unsigned n = 0; n < w.count; n++) {
			assert_int_equal(w.point[n].side, v.point[n].side);
			assert_int_equal(w.point[n].at.access.at, v.point[n].at.access.at);
			/* A side comes to its change points in the order of its recording. */
			if (n && w.point[n].side == w.point[n - 1].side)
				assert_true(w.point[n].at.access.at >= w.point[n - 1].at.access.at);
		}
	}
	assert_true(both_first[0] && both_first[1]);
	walk_places_free(&p);
}

static void the_probability_is_that_of_pct(void **state)
{
	const struct walk_places p = {.count = 10};

	(void)state;
	assert_float_equal(walk_probability(&p, 2), 0.05, 1e-9);
	assert_float_equal(walk_probability(&p, 3), 0.005, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_is_counted_once),
		cmocka_unit_test(late_candidates_count_only_if_there_are_no_others),
		cmocka_unit_test(a_seed_gives_the_same_schedules),
		cmocka_unit_test(the_probability_is_that_of_pct),
	};

	return cmocka_run_group_tests_name("random schedules", tests, NULL, NULL);
}

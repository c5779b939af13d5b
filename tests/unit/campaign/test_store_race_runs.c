// SPDX-License-Identifier: GPL-2.0-or-later
/* The runs that saw a race, in stores of both kinds, and the page about the race. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hv/campaign/list/race_history.h"
#include "hv/campaign/store/race_runs.h"
#include "tests/unit/campaign/store_both.h"

/* The runs that saw a race, the newest first, over rounds and builds. */
static void runs_of_a_race(void **state)
{
	struct fixture *f = *state;
	const struct rig_race seen = {.variable = "x", .class = VERDICT_HARMFUL, .rank = 70, .rule = "lost-update", .count = 3};
	const struct rig_race elsewhere = {.variable = "y"};
	int64_t first = store_rig_round(f->s, "nightly", NULL), second = store_rig_round(f->s, "weekly", NULL), race;
	struct store_races races;
	struct store_race_runs runs;

	run_with(f, first, "a", RACES(seen));
	run_with(f, first, "b", RACES(elsewhere));
	run_with(f, second, "c", RACES(elsewhere, seen));
	races = races_of(f, first, 0);
	race = races.list[races.list[0].datum[0] != 'x'].id;
	store_races_free(&races);

	assert_int_equal(store_race_runs(f->s, race, 10, &runs, &f->err), 0);
	assert_int_equal(runs.count, 2);
	for (size_t i = 0; i < runs.count; i++) {
		const struct store_race_run *r = &runs.list[i];
		bool newest = strcmp(r->campaign, "weekly") == 0;

		assert_string_equal(r->key, newest ? "c" : "a");
		assert_int_equal(r->number, 1);
		assert_int_equal(r->seen, 3);
		assert_int_equal(r->class, VERDICT_HARMFUL);
		assert_int_equal(r->rank, 70);
		assert_string_equal(r->rule, "lost-update");
		assert_int_equal(strlen(r->report), STORE_RACE_ID_MAX - 1);
		if (i)
			assert_true(r->started <= runs.list[i - 1].started);
	}
	assert_string_not_equal(runs.list[0].campaign, runs.list[1].campaign);
	store_race_runs_free(&runs);

	assert_int_equal(store_race_runs(f->s, race, 1, &runs, &f->err), 0);
	assert_int_equal(runs.count, 1);
	store_race_runs_free(&runs);
	assert_int_equal(store_race_runs(f->s, race + 1000, 10, &runs, &f->err), 0);
	assert_int_equal(runs.count, 0);
	store_race_runs_free(&runs);
}

/* A store is not trusted: what it calls a rule must not become a part of the page. */
static void the_page_escapes_the_rule(void **state)
{
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL), race;
	struct race_history *history;
	struct store_race_runs runs;
	struct store_races races;
	char *page = NULL;
	size_t size;
	FILE *out = open_memstream(&page, &size);

	run_with(f, round, "a", RACES({.variable = "x", .rule = "<img src=x>"}));
	races = races_of(f, round, 0);
	race = races.list[0].id;
	store_races_free(&races);
	assert_int_equal(store_race_runs(f->s, race, 10, &runs, &f->err), 0);
	history = race_history_get(f->s, race, NULL, "0", &f->err);
	assert_non_null(history);
	assert_int_equal(race_history_html(out, history, &runs, &f->err), 0);
	assert_int_equal(fclose(out), 0);
	assert_non_null(strstr(page, "&lt;img src=x&gt;"));
	assert_null(strstr(page, "<img"));
	free(page);
	race_history_free(history);
	store_race_runs_free(&runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(runs_of_a_race),
		BOTH(the_page_escapes_the_rule),
	};

	return cmocka_run_group_tests(tests, start_server, end_server);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* What the instances of a race that were run in both orders say together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hv/race/store.h"
#include "tests/unit/replay/replay_made.h"
#include "tests/unit/report/sample.h"

static struct race_replay replay_of(size_t n, const struct replay_instance *const instances[])
{
	struct race_replay replay = {0};

	for (size_t i = 0; i < n; i++) {
		assert_null(replay_instance_wrong(instances[i]));
		replay_count(&replay, instances[i]);
		assert_null(replay_wrong(&replay));
	}
	return replay;
}

#define REPLAY_OF(...)                                                                                        \
	replay_of(sizeof((const struct replay_instance *[]){__VA_ARGS__}) / sizeof(struct replay_instance *), \
		  (const struct replay_instance *const[]){__VA_ARGS__})

/* The paper's 5.2.1: one state change makes the race one, and only instances that are all equal make it equal. */
static void instances_make_the_races_outcome(void **state)
{
	const struct replay_instance equal = replay_made_equal(), change = replay_made_change(),
				     fault = replay_made_failure(REPLAY_FAULT),
				     no_copy = replay_made_failure(REPLAY_CANNOT_LOAD);
	struct race_replay r;

	(void)state;
	r = REPLAY_OF(&equal, &equal);
	assert_int_equal(replay_outcome(&r), REPLAY_NO_STATE_CHANGE);
	r = REPLAY_OF(&equal, &fault, &equal);
	assert_int_equal(replay_outcome(&r), REPLAY_FAILURE);
	r = REPLAY_OF(&fault, &change, &equal);
	assert_int_equal(replay_outcome(&r), REPLAY_STATE_CHANGE);
	assert_int_equal(replay_instances(&r), 3);
	/* A copy that was never run says nothing of the race, unless it is all there is. */
	r = REPLAY_OF(&no_copy, &equal);
	assert_int_equal(replay_outcome(&r), REPLAY_NO_STATE_CHANGE);
	assert_int_equal(r.not_run, 1);
	r = REPLAY_OF(&no_copy);
	assert_int_equal(replay_outcome(&r), REPLAY_FAILURE);
}

/* What is the same in a report may differ in the run, and names say nothing of either. */
static void outcomes_and_runs_are_compared(void **state)
{
	const struct replay_instance change = replay_made_change(), equal = replay_made_equal(), oops = replay_made_oops(1),
				     other_oops = replay_made_oops(0), fault = replay_made_failure(REPLAY_FAULT),
				     warning = replay_made_failure(REPLAY_WARNING);
	struct replay_instance other = change;

	(void)state;
	assert_false(replay_same_outcome(&change, &equal));
	assert_false(replay_same_outcome(&change, &oops));
	assert_false(replay_same_outcome(&oops, &other_oops));
	assert_false(replay_same_outcome(&fault, &warning));
	other.differences[0].gva = 0;
	strcpy(other.differences[0].name, "another name");
	assert_true(replay_same_outcome(&change, &other));
	assert_true(replay_identical(&change, &other));
	other.differences[0].bytes[1][3] ^= 1;
	assert_true(replay_same_outcome(&change, &other));
	assert_false(replay_identical(&change, &other));
	other = change;
	strcpy(other.differences[1].name, "rbx");
	assert_false(replay_identical(&change, &other));
	other = change;
	other.orders[1].regions[1].instructions++;
	assert_true(replay_same_outcome(&change, &other));
	assert_false(replay_identical(&change, &other));
	assert_false(replay_identical(&change, &equal));
}

static void most_telling_instance_is_kept(void **state)
{
	struct replay_instance equal = replay_made_equal(), change = replay_made_change(), oops = replay_made_oops(1),
			       fault = replay_made_failure(REPLAY_FAULT), no_copy = replay_made_failure(REPLAY_CANNOT_LOAD),
			       later = replay_made_change();
	const struct replay_instance *const rising[] = {&no_copy, &equal, &fault, &change, &oops};
	struct race_replay r;

	(void)state;
	strcpy(later.differences[0].name, "another");
	for (size_t n = 1; n <= 5; n++) {
		r = replay_of(n, rising);
		assert_memory_equal(&r.telling, rising[n - 1], sizeof(r.telling));
	}
	r = REPLAY_OF(&oops, &change, &equal);
	assert_memory_equal(&r.telling, &oops, sizeof(oops));
	assert_int_equal(r.one_troubled, 1);
	r = REPLAY_OF(&change, &later);
	assert_string_equal(r.telling.differences[0].name, "gt_counter");
}

/* Trouble in both orders is no word against either, and an order that was not run on is no witness. */
static void trouble_counts_in_one_order_only(void **state)
{
	struct replay_instance i = replay_made_oops(1);

	(void)state;
	assert_int_equal(replay_troubled_order(&i), 1);
	i.orders[0].machine = REPLAY_MACHINE_OFF;
	assert_int_equal(replay_troubled_order(&i), 1);
	i.orders[0].machine = REPLAY_MACHINE_NOT_RUN;
	assert_int_equal(replay_troubled_order(&i), -1);
	i.orders[0].machine = REPLAY_MACHINE_HANG;
	assert_int_equal(replay_troubled_order(&i), -1);
	i = replay_made_equal();
	assert_int_equal(replay_troubled_order(&i), -1);
	i.orders[0].machine = REPLAY_MACHINE_TRIPLE_FAULT;
	assert_int_equal(replay_troubled_order(&i), 0);
}

static void what_does_not_fit_together_is_said(void **state)
{
	struct replay_instance i = replay_made_change(), equal = replay_made_equal();
	struct race_replay r;

	(void)state;
	i.difference_count = 0;
	assert_non_null(replay_instance_wrong(&i));
	i = replay_made_change();
	i.outcome = REPLAY_NO_STATE_CHANGE;
	assert_non_null(replay_instance_wrong(&i));
	i.outcome = REPLAY_FAILURE;
	assert_non_null(replay_instance_wrong(&i));
	i = replay_made_change();
	i.kept = REPLAY_DIFFERENCES_MAX + 1;
	i.difference_count = 100;
	assert_non_null(replay_instance_wrong(&i));
	i = replay_made_change();
	i.differences[1].len = REPLAY_BYTES_MAX + 1;
	assert_non_null(replay_instance_wrong(&i));
	i = replay_made_change();
	i.differences[1].side = 2;
	assert_non_null(replay_instance_wrong(&i));
	i = replay_made_change();
	i.orders[1].regions[0].end = REPLAY_ENDS;
	assert_non_null(replay_instance_wrong(&i));
	r = REPLAY_OF(&equal);
	r.one_troubled = 1;
	assert_non_null(replay_wrong(&r));
	r = REPLAY_OF(&equal);
	r.count[REPLAY_STATE_CHANGE] = 1;
	assert_non_null(replay_wrong(&r));
	r = (struct race_replay){0};
	assert_non_null(replay_wrong(&r));
}

static void sides_change_over_together(void **state)
{
	struct replay_instance i = replay_made_oops(1);
	const struct replay_instance before = i;

	(void)state;
	replay_swap(&i);
	assert_int_equal(replay_troubled_order(&i), 0);
	assert_int_equal(i.orders[0].regions[0].instructions, 210);
	assert_int_equal(i.orders[0].regions[1].instructions, 200);
	assert_int_equal(i.differences[0].bytes[0][0], 0x2a);
	assert_int_equal(i.differences[0].side, 0);
	assert_int_equal(i.differences[1].side, 0);
	replay_swap(&i);
	assert_memory_equal(&i, &before, sizeof(i));
}

static void counts_stop_at_what_json_holds(void **state)
{
	const struct replay_instance change = replay_made_change(), equal = replay_made_equal();
	struct race_replay into = REPLAY_OF(&change), from = REPLAY_OF(&change, &equal);

	(void)state;
	into.count[REPLAY_STATE_CHANGE] = from.count[REPLAY_NO_STATE_CHANGE] = INT64_MAX;
	replay_merge(&into, &from, false);
	assert_int_equal(into.count[REPLAY_STATE_CHANGE], INT64_MAX);
	assert_int_equal(into.count[REPLAY_NO_STATE_CHANGE], INT64_MAX);
	assert_int_equal(replay_instances(&into), INT64_MAX);
	assert_null(replay_wrong(&into));
}

/* ---- in a store ---- */

static int setup(void **state)
{
	*state = race_store_new(NULL);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	race_store_free(*state);
	return 0;
}

static struct race *sample_race(struct race_store *s)
{
	struct err err = {0};
	struct observation o;
	bool is_new;

	sample_observation(&o, 0);
	return race_store_add(s, &o, &is_new, &err);
}

static void store_adds_instances(void **state)
{
	struct replay_instance i = replay_made_oops(1);
	struct race *race = sample_race(*state);
	struct err err = {0};

	assert_null(race->replay);
	strcpy(i.orders[1].trouble, "BUG:\x1b[2J");
	assert_ptr_equal(race_store_add_replay(*state, race->site[0], race->site[1], &i, &err), race);
	assert_int_equal(replay_troubled_order(&race->replay->telling), 1);
	assert_string_equal(race->replay->telling.orders[1].trouble, "BUG:\\x1b[2J");
	/* The other way round it is the same order that is in trouble. */
	assert_ptr_equal(race_store_add_replay(*state, race->site[1], race->site[0], &i, &err), race);
	assert_int_equal(race->replay->one_troubled, 2);
	assert_null(race_store_add_replay(*state, race->site[0], "nobody+0x1", &i, &err));
	assert_int_equal(err.code, EXIT_OK);
	i.kept = 1000;
	assert_null(race_store_add_replay(*state, race->site[0], race->site[1], &i, &err));
	assert_int_equal(err.code, EXIT_INTERNAL);
	assert_int_equal(race->replay->one_troubled, 2);
}

static void last_moments_are_counted(void **state)
{
	struct replay_instance last = replay_made_change();
	const struct replay_instance equal = replay_made_equal();
	struct race_replay r = {0}, all = {0};

	(void)state;
	last.last_moment = true;
	replay_count(&r, &equal);
	assert_int_equal(r.last_moments, 0);
	replay_count(&r, &last);
	assert_int_equal(r.last_moments, 1);
	assert_false(r.telling.last_moment);
	replay_merge(&all, &r, true);
	replay_merge(&all, &r, false);
	assert_int_equal(all.last_moments, 2);
	assert_null(replay_wrong(&all));
	all.last_moments = 5;
	assert_non_null(replay_wrong(&all));
}

static void store_swaps_with_the_sites(void **state)
{
	const struct replay_instance i = replay_made_oops(1);
	struct race *race = sample_race(*state);
	struct err err = {0};

	assert_ptr_equal(race_store_add_replay(*state, race->site[1], race->site[0], &i, &err), race);
	assert_int_equal(replay_troubled_order(&race->replay->telling), 0);
}

/* A race of another report, which the caller has no more. `swap`: its sides are the other way round. */
static struct race *reported(bool swap, const struct replay_instance *instance)
{
	struct race_store *s = race_store_new(NULL);
	struct race *race = race_new(), *made;
	struct err err = {0};
	struct observation o;
	bool is_new;

	assert_non_null(race);
	sample_observation(&o, 0);
	if (swap)
		sample_swap(&o);
	made = race_store_add(s, &o, &is_new, &err);
	memcpy(race->id, made->id, sizeof(race->id));
	memcpy(race->site, made->site, sizeof(race->site));
	race->count = 1;
	if (instance) {
		assert_int_equal(race_have_replay(race), 0);
		replay_count(race->replay, instance);
	}
	race_store_free(s);
	return race;
}

static void reports_merge(void **state)
{
	const struct replay_instance equal = replay_made_equal(), oops = replay_made_oops(1);
	struct err err = {0};
	struct race *race = race_store_put(*state, reported(false, NULL), &err);

	assert_null(race->replay);
	assert_ptr_equal(race_store_put(*state, reported(false, &equal), &err), race);
	assert_int_equal(replay_outcome(race->replay), REPLAY_NO_STATE_CHANGE);
	assert_ptr_equal(race_store_put(*state, reported(true, &oops), &err), race);
	assert_int_equal(replay_instances(race->replay), 2);
	assert_int_equal(race->replay->one_troubled, 1);
	assert_int_equal(replay_troubled_order(&race->replay->telling), 0);
	assert_ptr_equal(race_store_put(*state, reported(true, NULL), &err), race);
	assert_int_equal(replay_instances(race->replay), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instances_make_the_races_outcome),
		cmocka_unit_test(outcomes_and_runs_are_compared),
		cmocka_unit_test(most_telling_instance_is_kept),
		cmocka_unit_test(trouble_counts_in_one_order_only),
		cmocka_unit_test(what_does_not_fit_together_is_said),
		cmocka_unit_test(sides_change_over_together),
		cmocka_unit_test(counts_stop_at_what_json_holds),
		cmocka_unit_test_setup_teardown(store_adds_instances, setup, teardown),
		cmocka_unit_test(last_moments_are_counted),
		cmocka_unit_test_setup_teardown(store_swaps_with_the_sites, setup, teardown),
		cmocka_unit_test_setup_teardown(reports_merge, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

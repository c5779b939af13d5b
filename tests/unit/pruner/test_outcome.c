// SPDX-License-Identifier: GPL-2.0-or-later
/* What running a race in both orders does to its verdict. The races were recorded; the outcomes are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pruner/rules/outcome.h"
#include "tests/unit/pruner/prune_bench.h"
#include "tests/unit/replay/replay_made.h"

/* A race of which the code says nothing. */
static struct bench *unnamed(void **state)
{
	return bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");
}

/* A race that is unclear, by a rule that equal states answer. */
static struct bench *unclear(void **state)
{
	struct bench *b = unnamed(state);

	bench_list(b, "[both-valid]\nvariable = gt_rwrace*\nreason = either will do\n");
	bench_expect(b, VERDICT_UNCLEAR, "both-values-valid");
	return b;
}

/* A race that is folded by its code. */
static struct bench *statistic(void **state)
{
	return bench_of(state, "gt_statcount_rx", "gt_statcount_tx");
}

static void replayed(struct bench *b, struct replay_instance instance, uint64_t times)
{
	assert_int_equal(race_have_replay(b->race), 0);
	assert_null(replay_instance_wrong(&instance));
	for (uint64_t i = 0; i < times; i++)
		replay_count(b->race->replay, &instance);
}

/* ---- no state change ---- */

static void enough_equal_instances_fold(void **state)
{
	struct bench *b = unclear(state);

	replayed(b, replay_made_equal(), OUTCOME_ENOUGH);
	bench_expect(b, VERDICT_BENIGN, "no-state-change");
	bench_says(b, "both orders run 44 times: no state change in 44");
	bench_says(b, "by its code alone the race is unclear (both-values-valid): ");
	bench_says(b, "either will do");
}

static void too_few_equal_instances(void **state)
{
	struct bench *b = unclear(state);

	replayed(b, replay_made_equal(), OUTCOME_ENOUGH - 1);
	bench_expect(b, VERDICT_UNCLEAR, "both-values-valid");
	bench_says(b, "no state change in 43, fewer than the 44 instances that a milder verdict needs");
}

static void one_state_change_among_many(void **state)
{
	struct bench *b = unclear(state);

	replayed(b, replay_made_equal(), 2 * OUTCOME_ENOUGH);
	replayed(b, replay_made_change(), 1);
	bench_expect(b, VERDICT_UNCLEAR, "both-values-valid");
	bench_says(b, "state change in 1, no state change in 88; gt_counter is 0x29");
}

static void one_failure_among_many(void **state)
{
	struct bench *b = unclear(state);

	replayed(b, replay_made_equal(), 2 * OUTCOME_ENOUGH);
	replayed(b, replay_made_failure(REPLAY_ENDLESS), 1);
	bench_expect(b, VERDICT_UNCLEAR, "both-values-valid");
	bench_says(b, "replay failure: endless");
}

static void copies_that_could_not_be_made_do_not_count(void **state)
{
	struct bench *b = unclear(state);

	replayed(b, replay_made_failure(REPLAY_CANNOT_LOAD), OUTCOME_ENOUGH);
	bench_expect(b, VERDICT_UNCLEAR, "both-values-valid");
	bench_says(b, "44 of these could not be run");
	replayed(b, replay_made_equal(), OUTCOME_ENOUGH - 1);
	bench_expect(b, VERDICT_UNCLEAR, "both-values-valid");
	replayed(b, replay_made_equal(), 1);
	bench_expect(b, VERDICT_BENIGN, "no-state-change");
}

static void trouble_in_both_orders(void **state)
{
	struct bench *b = unclear(state);
	struct replay_instance instance = replay_made_equal();

	instance.orders[0].machine = instance.orders[1].machine = REPLAY_MACHINE_HANG;
	replayed(b, instance, OUTCOME_ENOUGH);
	bench_expect(b, VERDICT_UNCLEAR, "both-values-valid");
	bench_says(b, "ended in trouble or was not run on");
}

static void an_order_that_was_not_run_on(void **state)
{
	struct bench *b = unclear(state);
	struct replay_instance instance = replay_made_equal();

	instance.orders[1].machine = REPLAY_MACHINE_NOT_RUN;
	replayed(b, instance, OUTCOME_ENOUGH);
	bench_expect(b, VERDICT_UNCLEAR, "both-values-valid");
}

/* Two stores of one value are equal in either order, whatever else is done twice. */
static void rule_that_equal_states_do_not_answer(void **state)
{
	struct bench *b = bench_of(state, "gt_samevalue_first", "gt_samevalue_second");

	replayed(b, replay_made_equal(), 100 * OUTCOME_ENOUGH);
	bench_expect(b, VERDICT_UNCLEAR, "same-value-writes");
	bench_says(b, "which does not refute the rule");
}

static void harmful_candidate_is_never_folded(void **state)
{
	struct bench *b = unnamed(state);

	bench_expect(b, VERDICT_HARMFUL, "no-benign-pattern");
	replayed(b, replay_made_equal(), 100 * OUTCOME_ENOUGH);
	bench_expect(b, VERDICT_UNCLEAR, "no-state-change");
}

static void harmful_candidate_by_its_code_stays_one(void **state)
{
	struct bench *b = bench_of(state, "gt_nlink_rename", "gt_nlink_link");

	replayed(b, replay_made_equal(), 100 * OUTCOME_ENOUGH);
	bench_expect(b, VERDICT_HARMFUL, "reference-count");
}

static void folded_race_stays_folded(void **state)
{
	struct bench *b = statistic(state);

	replayed(b, replay_made_equal(), OUTCOME_ENOUGH);
	bench_expect(b, VERDICT_BENIGN, "statistics-counter");
}

/* ---- state change and replay failure ---- */

static void state_change_names_an_unnamed_race(void **state)
{
	struct bench *b = unnamed(state);
	int before;

	bench_expect(b, VERDICT_HARMFUL, "no-benign-pattern");
	before = b->verdict.rank;
	replayed(b, replay_made_change(), 1);
	bench_expect(b, VERDICT_HARMFUL, "state-change");
	assert_int_equal(b->verdict.rank, before + 7);
	bench_says(b, "gt_counter is 0x29 after the first order, 0x2a after the second");
}

static void state_change_raises_a_named_race(void **state)
{
	struct bench *b = bench_of(state, "gt_halflock_watchdog", "gt_halflock_setter");
	int before;

	bench_expect(b, VERDICT_HARMFUL, "lock-on-one-side");
	before = b->verdict.rank;
	replayed(b, replay_made_change(), 1);
	bench_expect(b, VERDICT_HARMFUL, "lock-on-one-side");
	assert_int_equal(b->verdict.rank, before + 7);
}

/* The paper's approximate computation: the state changes, and the pattern says that it may. */
static void state_change_does_not_overrule_a_pattern(void **state)
{
	struct bench *b = statistic(state);

	replayed(b, replay_made_change(), 10);
	bench_expect(b, VERDICT_BENIGN, "statistics-counter");
	bench_says(b, "both orders run 10 times: state change in 10");
}

static void failure_names_an_unnamed_race(void **state)
{
	struct bench *b = unnamed(state);

	replayed(b, replay_made_failure(REPLAY_DEADLOCK), 1);
	bench_expect(b, VERDICT_HARMFUL, "replay-failure");
	bench_says(b, "replay failure: deadlock");
}

static void copies_alone_that_could_not_be_made_say_nothing(void **state)
{
	struct bench *b = unnamed(state);

	replayed(b, replay_made_failure(REPLAY_CANNOT_LOAD), 5);
	bench_expect(b, VERDICT_HARMFUL, "no-benign-pattern");
}

/* ---- one order in trouble ---- */

static void trouble_in_one_order_overrules_a_pattern(void **state)
{
	struct bench *b = statistic(state);

	replayed(b, replay_made_equal(), OUTCOME_ENOUGH);
	replayed(b, replay_made_oops(1), 1);
	bench_expect(b, VERDICT_HARMFUL, "order-crashes");
	assert_int_equal(b->verdict.rank, 99);
	assert_memory_equal(b->verdict.evidence, "second order (outrider_gt:gt_statcount_", 39);
	bench_says(b, "in 1 of 45: " REPLAY_MADE_OOPS);
	bench_says(b, "by its code alone the race is benign (statistics-counter): ");
}

static void trouble_in_one_order_is_the_strongest(void **state)
{
	struct bench *b = bench_of(state, "gt_nlink_rename", "gt_nlink_link");

	replayed(b, replay_made_oops(0), 1);
	bench_expect(b, VERDICT_HARMFUL, "order-crashes");
	bench_says(b, "first order");
	bench_says(b, "(reference-count)");
}

static void trouble_in_both_orders_is_not_the_races(void **state)
{
	struct bench *b = unnamed(state);
	struct replay_instance instance = replay_made_oops(0);

	instance.orders[1] = instance.orders[0];
	replayed(b, instance, 1);
	bench_expect(b, VERDICT_HARMFUL, "state-change");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(enough_equal_instances_fold),
		BENCH_TEST(too_few_equal_instances),
		BENCH_TEST(one_state_change_among_many),
		BENCH_TEST(one_failure_among_many),
		BENCH_TEST(copies_that_could_not_be_made_do_not_count),
		BENCH_TEST(trouble_in_both_orders),
		BENCH_TEST(an_order_that_was_not_run_on),
		BENCH_TEST(rule_that_equal_states_do_not_answer),
		BENCH_TEST(harmful_candidate_is_never_folded),
		BENCH_TEST(harmful_candidate_by_its_code_stays_one),
		BENCH_TEST(folded_race_stays_folded),
		BENCH_TEST(state_change_names_an_unnamed_race),
		BENCH_TEST(state_change_raises_a_named_race),
		BENCH_TEST(state_change_does_not_overrule_a_pattern),
		BENCH_TEST(failure_names_an_unnamed_race),
		BENCH_TEST(copies_alone_that_could_not_be_made_say_nothing),
		BENCH_TEST(trouble_in_one_order_overrules_a_pattern),
		BENCH_TEST(trouble_in_one_order_is_the_strongest),
		BENCH_TEST(trouble_in_both_orders_is_not_the_races),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Verdicts of the recorded races as they are, of less of them, of two runs of them, and of records that anybody made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "tests/unit/pruner/prune_bench.h"
#include "tests/unit/race/side_room.h"

/* ---- what raises ---- */

static void test_reference_count(void **state)
{
	struct bench *b = bench_of(state, "gt_refput_owner", "gt_refput_user");

	bench_expect(b, VERDICT_HARMFUL, "reference-count");
	bench_says(b, "may call kvfree_call_rcu() after its access");
}

static void test_interrupt_against_task(void **state)
{
	struct bench *b = bench_of(state, "gt_irqsame_task", "gt_irqsame_timer");

	bench_expect(b, VERDICT_HARMFUL, "lost-update");
	bench_says(b, "one side is an interrupt");
}

static void test_torn_read(void **state)
{
	struct bench *b = bench_of(state, "gt_straddle_reader", "gt_straddle_writer");

	bench_expect(b, VERDICT_HARMFUL, "torn");
}

static void test_two_addresses_of_one_word(void **state)
{
	struct bench *b = bench_of(state, "gt_alias_reader", "gt_alias_writer");

	bench_expect(b, VERDICT_HARMFUL, "no-benign-pattern");
}

static void test_plain_reader_and_writer(void **state)
{
	struct bench *b = bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");

	bench_expect(b, VERDICT_HARMFUL, "no-benign-pattern");
}

static void test_value_that_is_branched_on(void **state)
{
	struct bench *b = bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");

	bench_code(b, b->reader, CODE("\x48\x83\x3f\x00\xc3"), 0); /* cmpq $0,(%rdi); ret */
	bench_expect(b, VERDICT_HARMFUL, "value-used");
	bench_says(b, "gt_rwrace_reader branches on ");
}

static void test_value_that_is_gone_through(void **state)
{
	struct bench *b = bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");

	/* movq (%rdi),%rdx; movq 8(%rdx),%rax; ret */
	bench_code(b, b->reader, CODE("\x48\x8b\x17\x48\x8b\x42\x08\xc3"), 0);
	bench_expect(b, VERDICT_HARMFUL, "value-used");
	bench_says(b, "gt_rwrace_reader computes an address from ");
}

static void test_unseen_writer(void **state)
{
	struct bench *b = bench_of(state, "gt_alias_reader", "");

	bench_expect(b, VERDICT_HARMFUL, "no-benign-pattern");
	bench_says(b, "the writer was not seen");
}

/* ---- without debug files the code and the instances are still there ---- */

static struct bench *unnamed(void **state, const char *reader, const char *writer)
{
	struct bench *b = bench_of(state, reader, writer);

	bench_unnamed(b->race);
	return b;
}

static void test_counter_without_names(void **state)
{
	struct bench *b = unnamed(state, "gt_statcount_rx", "gt_statcount_tx");

	bench_expect(b, VERDICT_BENIGN, "statistics-counter");
}

static void test_flags_without_names(void **state)
{
	struct bench *b = unnamed(state, "gt_flagbits_tester", "gt_flagbits_marker");

	bench_expect(b, VERDICT_BENIGN, "safe-flag-update");
}

static void test_double_check_without_names(void **state)
{
	struct bench *b = unnamed(state, "gt_dclock_user", "gt_dclock_reset");

	bench_expect(b, VERDICT_BENIGN, "double-checked-locking");
}

static void test_same_value_without_names(void **state)
{
	struct bench *b = unnamed(state, "gt_samevalue_first", "gt_samevalue_second");

	bench_expect(b, VERDICT_UNCLEAR, "same-value-writes");
}

static void test_lost_update_without_names(void **state)
{
	struct bench *b = unnamed(state, "gt_nlink_rename", "gt_nlink_link");

	bench_expect(b, VERDICT_HARMFUL, "lost-update");
}

static void test_without_names_and_code_nothing_is_pruned(void **state)
{
	struct bench *b = *state;

	assert_true(b->load.count > 0);
	for (size_t i = 0; i < b->load.count; i++) {
		b->race = b->load.races[i];
		bench_unnamed(b->race);
		bench_side(b, 0)->code_len = bench_side(b, 1)->code_len = 0;
		bench_expect_class(b, VERDICT_HARMFUL);
	}
}

/* ---- all of them ---- */

/* A second run that shows what the first did changes nothing of what that told. */
static void test_two_runs_together(void **state)
{
	struct bench *b = *state;
	struct race_store *store = race_store_new(NULL);
	struct verdict once[64];
	struct report_load again;

	assert_in_range(b->load.count, 1, 64);
	assert_int_equal(report_load(&again, BENCH_RACES, NULL), 0);
	for (size_t i = 0; i < b->load.count; i++) {
		/* Room for what the second brings. */
		b->load.races[i]->kept = again.races[i]->kept = RACE_INSTANCES_MAX / 2;
		prune_race(b->rules, b->load.races[i], &once[i]);
	}
	assert_int_equal(report_load_into(&b->load, store, NULL), 0);
	assert_int_equal(report_load_into(&again, store, NULL), 0);
	report_load_free(&again);
	for (size_t i = 0; i < race_store_count(store); i++) {
		b->race = race_store_get(store, i);
		assert_int_equal(b->race->kept, RACE_INSTANCES_MAX);
		assert_int_not_equal(b->race->instances[0].run, b->race->instances[RACE_INSTANCES_MAX / 2].run);
		bench_expect(b, once[i].class, rule_name(once[i].rule));
	}
	race_store_free(store);
}

/* Every rule has a name of its own and all texts, and every verdict is of a rule. */
static void test_rules_are_explained(void **state)
{
	struct bench *b = *state;

	for (unsigned i = 0; i < RULE_COUNT; i++) {
		const struct rule *rule = &rule_table[i];

		assert_true(rule->name && rule->help.found && rule->help.meaning && rule->help.next);
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(rule->name, rule_name(j));
	}
	for (size_t i = 0; i < b->load.count; i++) {
		prune_race(b->rules, b->load.races[i], &b->verdict);
		assert_in_range(b->verdict.rule, 0, RULE_COUNT - 1);
		assert_in_range(b->verdict.rank, 0, 99);
		assert_true(b->verdict.evidence[0] != '\0');
	}
}

static uint64_t any_number(struct rng *rng)
{
	static const uint64_t odd[] = {0, 1, 3, 8, 63, 64, 0x7fffffff, 0xffffffff, 1ull << 63, ~0ull};

	return rng_below(rng, 2) ? odd[rng_below(rng, sizeof(odd) / sizeof(odd[0]))] : rng_next(rng);
}

static void spoil(struct rng *rng, struct race *race)
{
	struct race_side *s = &race->first.sides[rng_below(rng, 2)];
	struct race_instance *instance = &race->instances[rng_below(rng, RACE_INSTANCES_MAX)];

	switch (rng_below(rng, 8)) {
	case 0:
		s->gva = any_number(rng);
		break;
	case 1:
		s->size = (uint32_t)any_number(rng);
		break;
	case 2:
		s->pc = rng_below(rng, 2) ? any_number(rng) : s->code_gva + rng_below(rng, RACE_CODE_MAX);
		break;
	case 3:
		for (size_t i = 0; i < RACE_CODE_MAX; i++)
			s->code[i] = (uint8_t)rng_next(rng);
		s->code_len = (uint32_t)rng_below(rng, RACE_CODE_MAX + 1);
		break;
	case 4:
		instance->gva = any_number(rng);
		instance->data_len = (uint32_t)rng_below(rng, RACE_DATA_MAX + 1);
		break;
	case 5:
		race->kept = (unsigned)rng_below(rng, RACE_INSTANCES_MAX + 1);
		break;
	case 6:
		race->rw[rng_below(rng, 2)] = (uint8_t)rng_below(rng, 4);
		break;
	default:
		race->names->datum[rng_below(rng, 2)].bit_size = (unsigned)rng_below(rng, 4097);
		s->code_gva = any_number(rng);
	}
}

/* A record can be anybody's: whatever is in it, there is a verdict (the sanitizers look). */
static void test_any_record(void **state)
{
	struct bench *b = *state;
	static struct race_side_room rooms[2];
	struct race_instance instances[RACE_INSTANCES_MAX];
	struct race *race = malloc(sizeof(*race));
	struct race_names *names = malloc(sizeof(*names));
	struct rng rng = {11};

	for (int round = 0; round < 3000; round++) {
		const struct race *from = b->load.races[rng_below(&rng, b->load.count)];

		memcpy(race, from, sizeof(*race));
		memset(instances, 0, sizeof(instances));
		memcpy(instances, from->instances, from->kept * sizeof(*instances));
		race->instances = instances;
		for (int i = 0; i < 2; i++) {
			memset(&rooms[i], 0, sizeof(rooms[i]));
			side_into_room(&race->first.sides[i], &rooms[i]);
		}
		memcpy(names, from->names, sizeof(*names));
		race->names = names;
		for (uint64_t n = 1 + rng_below(&rng, 4); n; n--)
			spoil(&rng, race);
		prune_race(b->rules, race, &b->verdict);
		assert_in_range(b->verdict.rank, 0, 99);
	}
	free(names);
	free(race);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_reference_count),
		BENCH_TEST(test_interrupt_against_task),
		BENCH_TEST(test_torn_read),
		BENCH_TEST(test_two_addresses_of_one_word),
		BENCH_TEST(test_plain_reader_and_writer),
		BENCH_TEST(test_value_that_is_branched_on),
		BENCH_TEST(test_value_that_is_gone_through),
		BENCH_TEST(test_unseen_writer),
		BENCH_TEST(test_counter_without_names),
		BENCH_TEST(test_flags_without_names),
		BENCH_TEST(test_double_check_without_names),
		BENCH_TEST(test_same_value_without_names),
		BENCH_TEST(test_lost_update_without_names),
		BENCH_TEST(test_without_names_and_code_nothing_is_pruned),
		BENCH_TEST(test_two_runs_together),
		BENCH_TEST(test_rules_are_explained),
		BENCH_TEST(test_any_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

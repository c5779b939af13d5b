// SPDX-License-Identifier: GPL-2.0-or-later
/* Look-ups of rules in ORC tables. */
#include "hv/base/rng.h"
#include "tests/unit/symbols/orc_world.h"

/* Each layout encodes the same rules. */
static void test_layouts(void **state)
{
	static const struct {
		unsigned sp, raw[LAYOUTS];
		enum orc_type type;
		bool interrupted;
	} cases[] = {
		{ORC_BASE_SP, {0, 0, 2}, ORC_CALL, false},
		{ORC_BASE_SP, {1, 1 | 4, 3 | 8}, ORC_REGS, true},
		{ORC_BASE_SP, {2, 2 | 4, 4 | 8}, ORC_REGS_PARTIAL, true},
		{ORC_BASE_NONE, {4, 8, 1}, ORC_END, false},
		{ORC_BASE_NONE, {0, 0, 0}, ORC_UNDEFINED, false},
		{ORC_BASE_SP, {3, 3, 7}, ORC_UNDEFINED, false},
	};

	(void)state;
	for (unsigned layout = 0; layout < LAYOUTS; layout++) {
		struct orc_table table;
		struct world w;

		open_world(&w, layout);
		for (size_t i = 0; i < COUNT(cases); i++)
			add(&w, TEXT + i * 16, -8, 24, cases[i].sp, ORC_BASE_PREV_SP, cases[i].raw[layout]);
		table = finish(&w);
		for (size_t i = 0; i < COUNT(cases); i++) {
			struct orc_rule rule;

			assert_int_equal(find(&w, &table, TEXT + i * 16 + 3, &rule), 0);
			assert_int_equal(rule.type, cases[i].type);
			assert_int_equal(rule.sp_base, cases[i].sp);
			assert_int_equal(rule.bp_base, ORC_BASE_PREV_SP);
			assert_int_equal(rule.sp_offset, -8);
			assert_int_equal(rule.bp_offset, 24);
			if (rule.type == ORC_CALL || rule.type == ORC_REGS || rule.type == ORC_REGS_PARTIAL)
				assert_int_equal(rule.interrupted, cases[i].interrupted);
		}
		close_world(&w);
	}
}

/* Make two rules for each of 500 addresses, 8 bytes apart. Rule `i` has the offset i. */
static struct orc_table thousand_rules(struct world *w)
{
	open_world(w, WITH_SIGNAL);
	for (int i = 0; i < 1000; i++)
		add(w, TEXT + 0x100 + (unsigned)i / 2 * 8, i, 0, ORC_BASE_SP, ORC_BASE_NONE, 2);
	return finish(w);
}

/* Linux 7.3 numbers the bases anew. Which numbers a table has shows in its rules, most of which are based on RSP. */
static void test_new_numbers(void **state)
{
	static const struct {
		unsigned number;
		uint8_t base;
	} cases[] = {{0, ORC_BASE_NONE},
		     {1, UINT8_MAX},
		     {2, ORC_BASE_DX},
		     {3, ORC_BASE_SP},
		     {4, ORC_BASE_BP},
		     {5, ORC_BASE_DI},
		     {6, ORC_BASE_R10},
		     {7, ORC_BASE_R13},
		     {8, ORC_BASE_PREV_SP},
		     {9, ORC_BASE_SP_INDIRECT},
		     {10, ORC_BASE_BP_INDIRECT},
		     {11, UINT8_MAX},
		     {15, UINT8_MAX}};
	struct orc_table table;
	struct orc_rule rule;
	struct world w;

	(void)state;
	open_world(&w, WITH_SIGNAL);
	for (unsigned i = 0; i < 2000; i++)
		add(&w, TEXT + i * 16, 8, 0, i < COUNT(cases) ? cases[i].number : 3, i < COUNT(cases) ? cases[i].number : 8, 2);
	table = finish(&w);
	orc_find_numbering(&w.reader, &table, &w.format);
	assert_true(w.format.renumbered);
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(find(&w, &table, TEXT + i * 16, &rule), 0);
		assert_int_equal(rule.sp_base, cases[i].base);
		assert_int_equal(rule.bp_base, cases[i].base);
	}
	close_world(&w);
	table = thousand_rules(&w);
	orc_find_numbering(&w.reader, &table, &w.format);
	assert_false(w.format.renumbered);
	close_world(&w);
}

static void test_address_before_all_rules(void **state)
{
	struct orc_rule rule;
	struct world w;
	struct orc_table table = thousand_rules(&w);

	(void)state;
	assert_int_equal(find(&w, &table, TEXT + 0xff, &rule), -1);
	assert_int_equal(find(&w, &table, 0, &rule), -1);
	close_world(&w);
}

/* The last of two entries for one address counts. */
static void test_address_of_each_rule(void **state)
{
	struct orc_rule rule;
	struct world w;
	struct orc_table table = thousand_rules(&w);

	(void)state;
	for (int i = 0; i < 500; i++) {
		w.mem.reads = 0;
		assert_int_equal(find(&w, &table, TEXT + 0x100 + (unsigned)i * 8, &rule), 0);
		assert_int_equal(rule.sp_offset, 2 * i + 1);
		assert_int_equal(find(&w, &table, TEXT + 0x107 + (unsigned)i * 8, &rule), 0);
		assert_int_equal(rule.sp_offset, 2 * i + 1);
		assert_true(w.mem.reads <= 24);
	}
	close_world(&w);
}

static void test_address_behind_all_rules(void **state)
{
	struct orc_rule rule;
	struct world w;
	struct orc_table table = thousand_rules(&w);

	(void)state;
	assert_int_equal(find(&w, &table, UINT64_MAX, &rule), 0);
	assert_int_equal(rule.sp_offset, 999);
	close_world(&w);
}

static void test_table_of_no_rules(void **state)
{
	struct orc_rule rule;
	struct world w;
	struct orc_table table = thousand_rules(&w);

	(void)state;
	table.count = 0;
	assert_int_equal(find(&w, &table, TEXT + 0x100, &rule), -1);
	close_world(&w);
}

/* Make a hundred rules. Some of them cannot be read. */
static struct orc_table hundred_rules(struct world *w)
{
	open_world(w, WITH_END);
	for (unsigned i = 0; i < 100; i++)
		add(w, TEXT + i * 16, 8, 0, ORC_BASE_SP, ORC_BASE_NONE, 0);
	return finish(w);
}

static void test_rule_before_the_unreadable(void **state)
{
	struct orc_rule rule;
	struct world w;
	struct orc_table table = hundred_rules(&w);

	(void)state;
	w.mem.ranges[1].len = 50 * ENTRY_SIZE;
	assert_int_equal(find(&w, &table, TEXT + 49 * 16, &rule), 0);
	close_world(&w);
}

static void test_unreadable_rule(void **state)
{
	struct orc_rule rule;
	struct world w;
	struct orc_table table = hundred_rules(&w);

	(void)state;
	w.mem.ranges[1].len = 50 * ENTRY_SIZE;
	assert_int_equal(find(&w, &table, TEXT + 50 * 16, &rule), -1);
	close_world(&w);
}

static void test_unreadable_addresses(void **state)
{
	struct orc_rule rule;
	struct world w;
	struct orc_table table = hundred_rules(&w);

	(void)state;
	w.mem.ranges[0].len = 4;
	assert_int_equal(find(&w, &table, TEXT + 49 * 16, &rule), -1);
	close_world(&w);
}

/* For any content of the tables, a look-up ends soon, and returns a rule of the table or none. */
static void test_mutated(void **state)
{
	struct rng rng = {.state = 1};

	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		struct orc_table table;
		struct orc_rule rule;
		struct world w;

		open_world(&w, (enum layout)(round % LAYOUTS));
		for (unsigned i = 0; i < 64; i++)
			add(&w, TEXT + i * 16, 8, 0, ORC_BASE_SP, ORC_BASE_NONE, 2);
		table = finish(&w);
		for (unsigned i = 0; i < 32; i++) {
			struct blob *b = rng_below(&rng, 2) ? &w.ips : &w.entries;

			b->bytes[rng_below(&rng, b->len)] = (uint8_t)rng_next(&rng);
		}
		if (!rng_below(&rng, 4))
			table.count = (uint32_t)rng_next(&rng);
		if (!rng_below(&rng, 4))
			table.entries = rng_next(&rng);
		w.mem.reads = 0;
		if (find(&w, &table, TEXT + rng_below(&rng, 64 * 16), &rule) == 0)
			assert_true(rule.type <= ORC_REGS_PARTIAL);
		assert_true(w.mem.reads <= 34);
		close_world(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_new_numbers),
		cmocka_unit_test(test_address_before_all_rules),
		cmocka_unit_test(test_address_of_each_rule),
		cmocka_unit_test(test_address_behind_all_rules),
		cmocka_unit_test(test_table_of_no_rules),
		cmocka_unit_test(test_rule_before_the_unreadable),
		cmocka_unit_test(test_unreadable_rule),
		cmocka_unit_test(test_unreadable_addresses),
		cmocka_unit_test(test_mutated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

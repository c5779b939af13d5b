// SPDX-License-Identifier: GPL-2.0-or-later
/* A variable of one word: without the source of both sides the class is unclear, and the source decides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "lone-word"

/* The recorded race of a plain load with a plain store, with its datum moved to a variable of one word. */
static struct bench *word(void **state)
{
	struct bench *b = bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");
	struct guest_memory *memory = &b->race->first.memory;

	*memory = (struct guest_memory){
		.kind = GUEST_MEMORY_MODULE, .cpu = -1, .object = b->race->first.sides[0].gva, .object_size = 4};
	snprintf(memory->symbol.name, sizeof(memory->symbol.name), "limit");
	bench_datum(b, "limit", "", "");
	snprintf(b->race->names->datum[0].path, sizeof(b->race->names->datum[0].path), "limit");
	snprintf(b->race->names->datum[1].path, sizeof(b->race->names->datum[1].path), "limit");
	return b;
}

static void test_without_sources(void **state)
{
	struct bench *b = word(state);

	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "gt_rwrace_writer stores it as a whole, and gt_rwrace_reader loads it as a whole");
	bench_says(b, "the source of both sides was not read");
	bench_says(b, "WRITE_ONCE()");
	bench_says(b, "otherwise a harmful candidate");
}

static void test_variable_of_the_kernel(void **state)
{
	struct bench *b = word(state);

	b->race->first.memory.kind = GUEST_MEMORY_KERNEL;
	bench_expect(b, VERDICT_UNCLEAR, RULE);
}

/* ---- the source decides ---- */

static void test_source_without_marks(void **state)
{
	struct bench *b = word(state);

	bench_lines(b, "a.c", 2);
	bench_source(b, "\tx = limit;");
	bench_expect(b, VERDICT_HARMFUL, "no-benign-pattern");
}

static void test_source_with_marks(void **state)
{
	struct bench *b = word(state);

	bench_lines(b, "a.c", 2);
	bench_source(b, "\tWRITE_ONCE(limit, READ_ONCE(limit));");
	bench_expect(b, VERDICT_SYNCHRONISATION, "marked-accesses");
}

/* A file that is not in the tree decides nothing. */
static void test_source_of_another_file(void **state)
{
	struct bench *b = word(state);

	bench_lines(b, "other.c", 2);
	bench_source(b, "\tx = limit;");
	bench_expect(b, VERDICT_UNCLEAR, RULE);
}

/* ---- what the rule does not fit: each test changes one thing ---- */

static void test_member_of_a_larger_variable(void **state)
{
	struct bench *b = word(state);

	b->race->first.memory.object_size = 16;
	bench_expect(b, VERDICT_HARMFUL, "no-benign-pattern");
}

static void test_object_of_a_slab(void **state)
{
	struct bench *b = word(state);

	b->race->first.memory.kind = GUEST_MEMORY_SLAB;
	bench_expect(b, VERDICT_HARMFUL, "no-benign-pattern");
}

static void test_memory_that_is_not_known(void **state)
{
	struct bench *b = word(state);

	b->race->first.memory = (struct guest_memory){.cpu = -1};
	bench_expect(b, VERDICT_HARMFUL, "no-benign-pattern");
}

static void test_value_that_is_branched_on(void **state)
{
	struct bench *b = word(state);

	bench_code(b, b->reader, CODE("\x83\x3f\x00\x74\x00\xc3"), 0); /* cmpl $0,(%rdi); je; ret */
	bench_expect(b, VERDICT_HARMFUL, "value-used");
}

static void test_part_of_the_word(void **state)
{
	struct bench *b = word(state);

	bench_side(b, b->writer)->size = 2;
	bench_expect_class(b, VERDICT_HARMFUL);
}

static void test_code_that_was_not_kept(void **state)
{
	struct bench *b = word(state);

	bench_side(b, b->writer)->code_len = 0;
	bench_expect_class(b, VERDICT_HARMFUL);
}

static void test_interrupt(void **state)
{
	struct bench *b = word(state);

	bench_side(b, b->writer)->context.kind = GUEST_HARDIRQ;
	bench_expect(b, VERDICT_HARMFUL, "interrupt-against-task");
}

/* Two stores can undo each other, whatever the source says. */
static void test_two_writers(void **state)
{
	bench_expect(bench_of(state, "gt_wwrace_first", "gt_wwrace_second"), VERDICT_HARMFUL, "no-benign-pattern");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_without_sources),
		BENCH_TEST(test_variable_of_the_kernel),
		BENCH_TEST(test_source_without_marks),
		BENCH_TEST(test_source_with_marks),
		BENCH_TEST(test_source_of_another_file),
		BENCH_TEST(test_member_of_a_larger_variable),
		BENCH_TEST(test_object_of_a_slab),
		BENCH_TEST(test_memory_that_is_not_known),
		BENCH_TEST(test_value_that_is_branched_on),
		BENCH_TEST(test_part_of_the_word),
		BENCH_TEST(test_code_that_was_not_kept),
		BENCH_TEST(test_interrupt),
		BENCH_TEST(test_two_writers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

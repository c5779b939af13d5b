// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which of a datum's names a list may know it by: as debug files name it for either side, or as the guest's own tables do. The
 * list is that of special variables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "special-variable"

static struct bench *reader_and_writer(void **state)
{
	return bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");
}

static void test_guess_at_a_name(void **state)
{
	struct bench *b = reader_and_writer(state);

	bench_datum(b, "jiffies_64", "u64", "");
	b->race->names->datum[0].guess = b->race->names->datum[1].guess = true;
	bench_expect_not(b, RULE);
}

/* ---- as the other side has it ---- */

/* Inlined code often has no name for what it accesses; the other side's is the datum's too. */
static struct bench *named_by_the_writer(void **state)
{
	struct bench *b = reader_and_writer(state);

	bench_datum(b, "pipe", "struct pipe_inode_info", "writers");
	b->race->names->datum[b->reader].by = DATUM_UNNAMED;
	return b;
}

static void test_name_by_the_other_side_in_a_function_that_is_not_listed(void **state)
{
	struct bench *b = named_by_the_writer(state);

	bench_expect_not(b, RULE);
}

static void test_name_by_the_other_side_in_a_listed_function(void **state)
{
	struct bench *b = named_by_the_writer(state);

	bench_function(b, b->reader, "pipe_poll");
	bench_expect(b, VERDICT_BENIGN, RULE);
	bench_says(b, "pipe.writers: ");
}

static void test_guess_at_a_name_by_the_other_side(void **state)
{
	struct bench *b = named_by_the_writer(state);

	bench_function(b, b->reader, "pipe_poll");
	b->race->names->datum[b->writer].guess = true;
	bench_expect_not(b, RULE);
}

/* ---- as the guest's own tables have it: variables, and the structs of slab caches and per-CPU variables ---- */

static struct bench *named_by_memory(void **state, struct guest_memory memory)
{
	struct bench *b = reader_and_writer(state);

	bench_unnamed(b->race);
	memory.cpu = -1;
	b->race->first.memory = memory;
	return b;
}

static void test_variable_by_memory(void **state)
{
	struct bench *b = named_by_memory(state, (struct guest_memory){.kind = GUEST_MEMORY_KERNEL, .symbol.name = "jiffies"});

	bench_expect(b, VERDICT_BENIGN, RULE);
}

static void test_variable_by_memory_that_is_not_listed(void **state)
{
	struct bench *b =
		named_by_memory(state, (struct guest_memory){.kind = GUEST_MEMORY_KERNEL, .symbol.name = "jiffies_of_mine"});

	bench_expect_not(b, RULE);
}

static void test_memory_behind_a_number(void **state)
{
	struct bench *b = named_by_memory(
		state, (struct guest_memory){.kind = GUEST_MEMORY_KERNEL, .symbol.name = "jiffies", .offset = 8});

	bench_expect_not(b, RULE);
}

static void test_memory_within_a_struct(void **state)
{
	struct bench *b = named_by_memory(
		state, (struct guest_memory){.kind = GUEST_MEMORY_KERNEL, .symbol.name = "tk_core", .offset = 8});

	bench_function(b, b->reader, "ktime_get");
	bench_expect(b, VERDICT_BENIGN, RULE);
}

static void test_member_of_a_slab_object(void **state)
{
	struct bench *b =
		named_by_memory(state, (struct guest_memory){.kind = GUEST_MEMORY_SLAB, .type = "sock", .member = "sk_err"});

	bench_expect(b, VERDICT_BENIGN, RULE);
	bench_says(b, "sock.sk_err: ");
}

static void test_other_member_of_a_slab_object(void **state)
{
	struct bench *b = named_by_memory(
		state, (struct guest_memory){.kind = GUEST_MEMORY_SLAB, .type = "sock", .member = "sk_error_queue.qlen"});

	bench_expect_not(b, RULE);
}

static void test_slab_cache_without_a_type(void **state)
{
	struct bench *b = named_by_memory(state, (struct guest_memory){.kind = GUEST_MEMORY_SLAB, .cache = "sock"});

	bench_expect_not(b, RULE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_guess_at_a_name),
		BENCH_TEST(test_name_by_the_other_side_in_a_function_that_is_not_listed),
		BENCH_TEST(test_name_by_the_other_side_in_a_listed_function),
		BENCH_TEST(test_guess_at_a_name_by_the_other_side),
		BENCH_TEST(test_variable_by_memory),
		BENCH_TEST(test_variable_by_memory_that_is_not_listed),
		BENCH_TEST(test_memory_behind_a_number),
		BENCH_TEST(test_memory_within_a_struct),
		BENCH_TEST(test_member_of_a_slab_object),
		BENCH_TEST(test_other_member_of_a_slab_object),
		BENCH_TEST(test_slab_cache_without_a_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

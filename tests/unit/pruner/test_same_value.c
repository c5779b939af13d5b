// SPDX-License-Identifier: GPL-2.0-or-later
/* Same-value writes: both sides store one value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "same-value-writes"

/* Both functions store the constant 1 to one word. */
static struct bench *same_value(void **state)
{
	return bench_of(state, "gt_samevalue_first", "gt_samevalue_second");
}

static void test_same_value(void **state)
{
	struct bench *b = same_value(state);

	bench_expect(b, VERDICT_UNCLEAR, RULE);
	assert_true(b->verdict.rank >= 55);
}

static void test_value_that_was_seen_to_become_another(void **state)
{
	struct bench *b = same_value(state);

	b->race->instances[1].after[0] = 2;
	bench_expect_not(b, RULE);
}

static void test_values_that_differ(void **state)
{
	struct bench *b = same_value(state);

	bench_code(b, 0, CODE("\xc7\x07\x02\0\0\0\xc3"), 0); /* movl $2,(%rdi); ret */
	bench_expect_not(b, RULE);
}

static void test_value_that_was_seen_to_become_the_stored_one(void **state)
{
	struct bench *b = same_value(state);

	b->race->instances[1].before[0] = 0;
	b->race->instances[1].after[0] = 1;
	bench_expect(b, VERDICT_UNCLEAR, RULE);
}

static void test_value_at_two_addresses(void **state)
{
	struct bench *b = same_value(state);

	bench_side(b, 0)->gva += 4;
	bench_expect_not(b, RULE);
}

static void test_value_of_two_sizes(void **state)
{
	struct bench *b = same_value(state);

	bench_side(b, 0)->size = 2;
	bench_expect_not(b, RULE);
}

static void test_value_of_unknown_code(void **state)
{
	struct bench *b = same_value(state);

	bench_side(b, 0)->code_len = 0;
	bench_expect_not(b, RULE);
}

static void test_value_that_one_side_reads(void **state)
{
	struct bench *b = same_value(state);

	b->race->rw[0] = INSN_READ;
	bench_expect_not(b, RULE);
}

static void test_value_that_one_side_reads_too(void **state)
{
	struct bench *b = same_value(state);

	b->race->rw[0] = INSN_READ | INSN_WRITE;
	bench_expect_not(b, RULE);
}

static void test_value_of_a_side_that_is_not_known_to_store(void **state)
{
	struct bench *b = same_value(state);

	b->race->rw[0] = 0;
	bench_expect_not(b, RULE);
}

/* ---- one side stores what a register holds ---- */

static struct bench *stored_register(void **state, uint64_t rax)
{
	struct bench *b = same_value(state);

	bench_code(b, 0, CODE("\x89\x07\xc3"), 0); /* movl %eax,(%rdi); ret */
	bench_side(b, 0)->regs.gpr[X86_RAX] = rax;
	return b;
}

static void test_register_with_the_value(void **state)
{
	struct bench *b = stored_register(state, 1);

	bench_expect(b, VERDICT_UNCLEAR, RULE);
}

static void test_register_with_the_value_in_the_half_that_is_stored(void **state)
{
	struct bench *b = stored_register(state, 0xffffffff00000001);

	bench_expect(b, VERDICT_UNCLEAR, RULE);
}

/* Two sides that count from one old value store the same new one, and a count is lost. */
static void test_register_with_the_value_made_of_the_old_one(void **state)
{
	struct bench *b = stored_register(state, 1);

	/* movl (%rdi),%eax; movq %rsi,0x81001000(,%rax,8); addl $1,%eax; andl $15,%eax; movl %eax,(%rdi); ret */
	bench_code(b, 0, CODE("\x8b\x07\x48\x89\x34\xc5\0\x10\0\x81\x83\xc0\x01\x83\xe0\x0f\x89\x07\xc3"), 16);
	bench_expect(b, VERDICT_HARMFUL, "no-benign-pattern");
}

static void test_register_with_another_value(void **state)
{
	struct bench *b = stored_register(state, 2);

	bench_expect_not(b, RULE);
}

static void test_register_with_the_value_in_a_byte_that_is_not_stored(void **state)
{
	struct bench *b = stored_register(state, 1);

	bench_code(b, 0, CODE("\x88\x27\xc3"), 0); /* movb %ah,(%rdi); ret */
	bench_expect_not(b, RULE);
}

/* ---- an update that stores what was there ---- */

/* DataCollider's figure 4: what is rewritten is what is there, and still an update can be lost. */
static void test_list_head_that_is_written_back(void **state)
{
	struct bench *b = bench_of(state, "gt_addtocache", "gt_addtocache");

	bench_expect(b, VERDICT_HARMFUL, "lost-update");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_same_value),
		BENCH_TEST(test_value_that_was_seen_to_become_another),
		BENCH_TEST(test_values_that_differ),
		BENCH_TEST(test_value_that_was_seen_to_become_the_stored_one),
		BENCH_TEST(test_value_at_two_addresses),
		BENCH_TEST(test_value_of_two_sizes),
		BENCH_TEST(test_value_of_unknown_code),
		BENCH_TEST(test_value_that_one_side_reads),
		BENCH_TEST(test_value_that_one_side_reads_too),
		BENCH_TEST(test_value_of_a_side_that_is_not_known_to_store),
		BENCH_TEST(test_register_with_the_value),
		BENCH_TEST(test_register_with_the_value_in_the_half_that_is_stored),
		BENCH_TEST(test_register_with_the_value_made_of_the_old_one),
		BENCH_TEST(test_register_with_another_value),
		BENCH_TEST(test_register_with_the_value_in_a_byte_that_is_not_stored),
		BENCH_TEST(test_list_head_that_is_written_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

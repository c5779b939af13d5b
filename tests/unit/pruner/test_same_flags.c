// SPDX-License-Identifier: GPL-2.0-or-later
/* Same-flag updates: both sides set a flag of a word unless it is set already, and nothing else depends on the flag. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "same-flag-update"

#define LOAD "\x8b\x07"		       /* mov (%rdi),%eax */
#define TEST_1 "\xa8\x01"	       /* test $1,%al */
#define SET_1 "\x83\xc8\x01\x89\x07"   /* or $1,%eax; mov %eax,(%rdi) */
#define CLEAR_1 "\x83\xe0\xfe\x89\x07" /* and $~1,%eax; mov %eax,(%rdi) */
#define RETURN_0 "\x31\xc0\xc3"	       /* xor %eax,%eax; ret */
#define AT_STORE 9

#define SETS LOAD TEST_1 "\x75\x05" SET_1 RETURN_0     /* jne over the store */
#define CLEARS LOAD TEST_1 "\x74\x05" CLEAR_1 RETURN_0 /* je over the store */

/* A race of the load of one side with the store of the other, which stores `after` over `before` in each instance. */
static struct bench *flag(void **state, uint32_t before, uint32_t after)
{
	struct bench *b = bench_of(state, "gt_flagbits_tester", "gt_flagbits_marker");

	bench_code(b, b->reader, CODE(SETS), 0);
	bench_code(b, b->writer, CODE(SETS), AT_STORE);
	bench_side(b, b->reader)->size = bench_side(b, b->writer)->size = sizeof(before);
	bench_side(b, b->reader)->gva = bench_side(b, b->writer)->gva;
	for (unsigned i = 0; i < b->race->kept; i++) {
		b->race->instances[i].data_len = sizeof(before);
		memcpy(b->race->instances[i].before, &before, sizeof(before));
		memcpy(b->race->instances[i].after, &after, sizeof(after));
	}
	return b;
}

static void both_set(void **state)
{
	struct bench *b = flag(state, 6, 7);

	bench_expect(b, VERDICT_BENIGN, RULE);
	bench_says(b, "gt_flagbits_tester and gt_flagbits_marker only set the bits 0x1 of ");
}

static void both_clear(void **state)
{
	struct bench *b = flag(state, 7, 6);

	bench_code(b, b->reader, CODE(CLEARS), 0);
	bench_code(b, b->writer, CODE(CLEARS), AT_STORE);
	bench_expect(b, VERDICT_BENIGN, RULE);
	bench_says(b, "only clear the bits 0x1 of ");
}

static void both_stores(void **state)
{
	struct bench *b = flag(state, 6, 7);

	bench_code(b, b->reader, CODE(SETS), AT_STORE);
	b->race->rw[b->reader] = INSN_WRITE;
	bench_expect(b, VERDICT_BENIGN, RULE);
}

/* testb $1,(%rdi); jne over the store; orb $1,(%rdi); ret */
static void in_memory(void **state)
{
	struct bench *b = flag(state, 0, 1);

	bench_code(b, b->reader, CODE("\xf6\x07\x01\x75\x03\x80\x0f\x01\xc3"), 0);
	bench_expect(b, VERDICT_BENIGN, RULE);
}

/* The store is after the function's end, and jumps back: je to the store; RETURN_0; the store; jmp to RETURN_0. */
static void out_of_line(void **state)
{
	struct bench *b = flag(state, 0, 1);

	bench_code(b, b->reader, CODE(LOAD TEST_1 "\x74\x03" RETURN_0 SET_1 "\xeb\xf6"), 0);
	bench_expect(b, VERDICT_BENIGN, RULE);
}

static void one_sets_and_one_clears(void **state)
{
	struct bench *b = flag(state, 6, 7);

	bench_code(b, b->reader, CODE(CLEARS), 0);
	bench_expect_not(b, RULE);
}

static void another_flag(void **state)
{
	struct bench *b = flag(state, 0, 1);

	/* test $2,%al; jne over the store; or $2,%eax; mov %eax,(%rdi) */
	bench_code(b, b->reader, CODE(LOAD "\xa8\x02\x75\x05\x83\xc8\x02\x89\x07" RETURN_0), 0);
	bench_expect_not(b, RULE);
}

static void test_of_another_flag(void **state)
{
	struct bench *b = flag(state, 0, 1);

	bench_code(b, b->reader, CODE(LOAD "\xa8\x02\x75\x05" SET_1 RETURN_0), 0);
	bench_expect_not(b, RULE);
}

/* Whether the flag was set decides about a call, as with test_and_set_bit(): then two sides may both be the first. */
static void the_first_does_more(void **state)
{
	struct bench *b = flag(state, 0, 1);

	bench_code(b, b->reader, CODE(LOAD TEST_1 "\x75\x0a" SET_1 "\xe8\x00\x00\x00\x00" RETURN_0), 0);
	bench_call(b, b->reader, 11, "do_it_once");
	bench_expect_not(b, RULE);
}

/* je over the store: the flag is set again if it is set. */
static void the_wrong_way(void **state)
{
	struct bench *b = flag(state, 0, 1);

	bench_code(b, b->reader, CODE(LOAD TEST_1 "\x74\x05" SET_1 RETURN_0), 0);
	bench_expect_not(b, RULE);
}

static void the_word_is_returned(void **state)
{
	struct bench *b = flag(state, 0, 1);

	bench_code(b, b->reader, CODE(LOAD TEST_1 "\x75\x05" SET_1 "\xc3"), 0);
	bench_expect_not(b, RULE);
}

static void the_word_is_stored_elsewhere(void **state)
{
	struct bench *b = flag(state, 0, 1);

	bench_code(b, b->reader, CODE(LOAD TEST_1 "\x75\x05" SET_1 "\x89\x06" RETURN_0), 0); /* mov %eax,(%rsi) */
	bench_expect_not(b, RULE);
}

/* mov %rsi,%rdi before the store: another word is stored. */
static void another_word(void **state)
{
	struct bench *b = flag(state, 0, 1);

	bench_code(b, b->reader, CODE(LOAD TEST_1 "\x75\x08\x83\xc8\x01\x48\x89\xf7\x89\x07" RETURN_0), 0);
	bench_expect_not(b, RULE);
}

static void another_bit_changed(void **state)
{
	struct bench *b = flag(state, 0, 1);

	b->race->instances[0].after[0] = 3;
	bench_expect_not(b, RULE);
}

static void the_flag_was_cleared(void **state)
{
	struct bench *b = flag(state, 1, 0);

	bench_expect_not(b, RULE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(both_set),	   BENCH_TEST(both_clear),	     BENCH_TEST(both_stores),
		BENCH_TEST(in_memory),	   BENCH_TEST(out_of_line),	     BENCH_TEST(one_sets_and_one_clears),
		BENCH_TEST(another_flag),  BENCH_TEST(test_of_another_flag), BENCH_TEST(the_first_does_more),
		BENCH_TEST(the_wrong_way), BENCH_TEST(the_word_is_returned), BENCH_TEST(the_word_is_stored_elsewhere),
		BENCH_TEST(another_word),  BENCH_TEST(another_bit_changed),  BENCH_TEST(the_flag_was_cleared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

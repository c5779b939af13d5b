// SPDX-License-Identifier: GPL-2.0-or-later
/* Lone flags: one side stores 0 or 1, and the other side only branches on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "lone-flag"

#define COMPARE_0 "\x83\x3f\x00\x75\x01\x90\xc3" /* cmpl $0,(%rdi); jne over the nop; nop; ret */
#define CLEAR "\xc7\x07\x00\x00\x00\x00"	 /* movl $0,(%rdi) */
#define CALL "\xe8\x00\x00\x00\x00"

static struct bench *flag(void **state, uint32_t before, uint32_t after)
{
	struct bench *b = bench_of(state, "gt_flagbits_tester", "gt_flagbits_marker");

	bench_code(b, b->reader, CODE(COMPARE_0), 0);
	bench_code(b, b->writer, CODE(CLEAR "\xc3"), 0);
	b->race->rw[b->reader] = INSN_READ;
	b->race->rw[b->writer] = INSN_WRITE;
	bench_side(b, b->reader)->size = bench_side(b, b->writer)->size = sizeof(before);
	bench_side(b, b->reader)->gva = bench_side(b, b->writer)->gva;
	for (unsigned i = 0; i < b->race->kept; i++) {
		b->race->instances[i].data_len = sizeof(before);
		memcpy(b->race->instances[i].before, &before, sizeof(before));
		memcpy(b->race->instances[i].after, &after, sizeof(after));
	}
	return b;
}

static void cleared(void **state)
{
	struct bench *b = flag(state, 1, 0);

	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "gt_flagbits_marker stores 0 and nothing else, and gt_flagbits_tester only branches on it");
}

/* mov (%rdi),%eax; test %eax,%eax; jne over the nop; nop; xor %eax,%eax; ret */
static void set_and_loaded(void **state)
{
	struct bench *b = flag(state, 0, 1);

	bench_code(b, b->writer, CODE("\xc7\x07\x01\x00\x00\x00\xc3"), 0);
	bench_code(b, b->reader, CODE("\x8b\x07\x85\xc0\x75\x01\x90\x31\xc0\xc3"), 0);
	bench_expect(b, VERDICT_UNCLEAR, RULE);
}

static void a_number(void **state)
{
	struct bench *b = flag(state, 1, 0);

	b->race->instances[1].before[0] = 2;
	bench_expect_not(b, RULE);
}

static void another_value_is_stored(void **state)
{
	struct bench *b = flag(state, 1, 2);

	bench_code(b, b->writer, CODE("\xc7\x07\x02\x00\x00\x00\xc3"), 0);
	bench_expect_not(b, RULE);
}

/* One of several states: cmpl $3,(%rdi) */
static void compared_with_another_value(void **state)
{
	struct bench *b = flag(state, 1, 0);

	bench_code(b, b->reader, CODE("\x83\x3f\x03\x75\x01\x90\xc3"), 0);
	bench_expect_not(b, RULE);
}

/* mov (%rdi),%eax; test %eax,%eax; jne over the nop; nop; ret */
static void returned(void **state)
{
	struct bench *b = flag(state, 1, 0);

	bench_code(b, b->reader, CODE("\x8b\x07\x85\xc0\x75\x01\x90\xc3"), 0);
	bench_expect_not(b, RULE);
}

/* jmp to code that was not kept, with the flag still in a register */
static void left_in_a_register(void **state)
{
	struct bench *b = flag(state, 1, 0);

	bench_code(b, b->reader, CODE("\x8b\x07\x85\xc0\x75\x01\x90\xe9\x00\x00\x00\x00"), 0);
	bench_side(b, b->reader)->symbol.size = 64;
	bench_expect(b, VERDICT_UNCLEAR, RULE);
}

/* The writer stores what its caller says: mov %esi,(%rdi) */
static void no_constant(void **state)
{
	struct bench *b = flag(state, 1, 0);

	bench_code(b, b->writer, CODE("\x89\x37\xc3"), 0);
	bench_expect_not(b, RULE);
}

/* A flag that is cleared before an object is freed says that the object may still be used. */
static void calls(void **state)
{
	static const char *const after[] = {"kfree", "flush_work", "del_timer_sync", "synchronize_rcu"};

	for (unsigned i = 0; i < ROWS(after); i++) {
		struct bench *b = flag(state, 1, 0);

		bench_code(b, b->writer, CODE(CLEAR CALL "\xc3"), 0);
		bench_call(b, b->writer, sizeof(CLEAR) - 1, after[i]);
		bench_expect_not(b, RULE);
	}
}

/* As fib_dead in Linux: the free waits for a reader that cannot be preempted. */
static void freed_after_a_grace_period(void **state)
{
	struct bench *b = flag(state, 1, 0);

	bench_code(b, b->writer, CODE(CLEAR CALL "\xc3"), 0);
	bench_call(b, b->writer, sizeof(CLEAR) - 1, "call_rcu");
	for (unsigned i = 0; i < b->race->kept; i++)
		b->race->instances[i].sides[b->reader].context.preempt_off = true;
	bench_side(b, b->reader)->context.preempt_off = true;
	bench_expect(b, VERDICT_UNCLEAR, RULE);
	b->race->instances[0].sides[b->reader].context.preempt_off = false;
	bench_expect_not(b, RULE);
}

static void the_reader_frees(void **state)
{
	struct bench *b = flag(state, 1, 0);

	/* cmpl $0,(%rdi); jne over the call; call kfree; ret */
	bench_code(b, b->reader, CODE("\x83\x3f\x00\x75\x05" CALL "\xc3"), 0);
	bench_call(b, b->reader, 5, "kfree");
	bench_expect_not(b, RULE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(cleared),
		BENCH_TEST(set_and_loaded),
		BENCH_TEST(a_number),
		BENCH_TEST(another_value_is_stored),
		BENCH_TEST(compared_with_another_value),
		BENCH_TEST(returned),
		BENCH_TEST(left_in_a_register),
		BENCH_TEST(no_constant),
		BENCH_TEST(calls),
		BENCH_TEST(freed_after_a_grace_period),
		BENCH_TEST(the_reader_frees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

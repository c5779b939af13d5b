// SPDX-License-Identifier: GPL-2.0-or-later
/* Double-checked locking, a lock on one side only, and loops that wait for the other side's store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/prune_bench.h"

#define RULE "double-checked-locking"

/* ---- double-checked locking ---- */

/* gt_dclock_user looks without the lock, takes it and looks again; gt_dclock_reset stores with the lock held. */
static struct bench *double_check(void **state)
{
	return bench_of(state, "gt_dclock_user", "gt_dclock_reset");
}

static void test_double_check(void **state)
{
	struct bench *b = double_check(state);

	bench_expect(b, VERDICT_BENIGN, RULE);
	bench_says(b, "_raw_spin_lock");
}

/* What was not kept of the function may come to the second look without the lock. */
static void test_double_check_in_a_part_of_a_function(void **state)
{
	struct bench *b = double_check(state);

	bench_start_not_kept(b, b->reader);
	bench_expect_not(b, RULE);
}

static void test_writers_lock_that_its_code_shows(void **state)
{
	struct bench *b = double_check(state);

	bench_side(b, b->writer)->context.preempt_off = false;
	bench_expect(b, VERDICT_BENIGN, RULE);
}

/* What was not kept of the function may come to the store without the lock. */
static void test_writers_lock_that_a_part_of_its_code_shows(void **state)
{
	struct bench *b = double_check(state);

	bench_side(b, b->writer)->context.preempt_off = false;
	bench_start_not_kept(b, b->writer);
	bench_expect(b, VERDICT_UNCLEAR, RULE);
}

/* Whoever writes without the lock makes the second look as racy as the first. */
static void test_double_check_against_a_writer_without_a_lock(void **state)
{
	struct bench *b = double_check(state);

	bench_side(b, b->writer)->context.preempt_off = false;
	bench_side(b, b->writer)->callee_count = 0;
	bench_expect(b, VERDICT_UNCLEAR, RULE);
}

static void test_two_looks_without_a_lock(void **state)
{
	struct bench *b = double_check(state);

	bench_side(b, b->writer)->context.preempt_off = false;
	bench_side(b, b->writer)->callee_count = 0;
	bench_side(b, b->reader)->callee_count = 0;
	bench_expect_not(b, RULE);
}

/* mov (%rbx),%eax; test %eax,%eax; jne 1f; call `function`; mov `offset`(%rbx),%eax; test %eax,%eax; 1: ret */
static struct bench *two_looks(void **state, const char *function, char offset)
{
	struct bench *b = double_check(state);
	char code[] = "\x8b\x03\x85\xc0\x75\x0a\xe8\x00\x01\x00\x00\x8b\x43\x00\x85\xc0\xc3";

	code[13] = offset;
	bench_code(b, b->reader, CODE(code), 0);
	bench_call(b, b->reader, 6, function);
	return b;
}

static void test_second_look_at_the_word_behind(void **state)
{
	struct bench *b = two_looks(state, "mutex_lock", 8);

	bench_expect_not(b, RULE);
}

static void test_second_look_at_the_word(void **state)
{
	struct bench *b = two_looks(state, "mutex_lock", 0);

	bench_expect(b, VERDICT_BENIGN, RULE);
}

static void test_second_look_without_the_lock_any_more(void **state)
{
	struct bench *b = two_looks(state, "mutex_unlock", 0);

	bench_expect_not(b, RULE);
}

/* ---- a lock on one side ---- */

static void test_setter_holds_a_lock_and_watchdog_none(void **state)
{
	struct bench *b = bench_of(state, "gt_halflock_watchdog", "gt_halflock_setter");

	bench_expect(b, VERDICT_HARMFUL, "lock-on-one-side");
}

static void test_writer_of_a_size_holds_a_lock_and_reader_none(void **state)
{
	struct bench *b = bench_of(state, "gt_latesize_get_inode", "gt_latesize_write");

	bench_expect(b, VERDICT_HARMFUL, "lock-on-one-side");
}

/* ---- user-built synchronisation ---- */

static void test_loop_that_only_waits(void **state)
{
	struct bench *b = bench_of(state, "gt_halflock_watchdog", "gt_halflock_setter");

	/* 1: testb $1,(%rdi); jne 2f; pause; jmp 1b; 2: ret */
	bench_code(b, b->reader, CODE("\xf6\x07\x01\x75\x04\xf3\x90\xeb\xf7\xc3"), 0);
	bench_expect(b, VERDICT_UNCLEAR, "user-built-synchronisation");
}

static void test_loop_that_does_something_while_it_waits(void **state)
{
	struct bench *b = bench_of(state, "gt_halflock_watchdog", "gt_halflock_setter");

	/* 1: testb $1,(%rdi); jne 2f; incl (%rsi); jmp 1b; 2: ret */
	bench_code(b, b->reader, CODE("\xf6\x07\x01\x75\x04\xff\x06\xeb\xf7\xc3"), 0);
	bench_expect_not(b, "user-built-synchronisation");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_double_check),
		BENCH_TEST(test_double_check_in_a_part_of_a_function),
		BENCH_TEST(test_writers_lock_that_its_code_shows),
		BENCH_TEST(test_writers_lock_that_a_part_of_its_code_shows),
		BENCH_TEST(test_double_check_against_a_writer_without_a_lock),
		BENCH_TEST(test_two_looks_without_a_lock),
		BENCH_TEST(test_second_look_at_the_word_behind),
		BENCH_TEST(test_second_look_at_the_word),
		BENCH_TEST(test_second_look_without_the_lock_any_more),
		BENCH_TEST(test_setter_holds_a_lock_and_watchdog_none),
		BENCH_TEST(test_writer_of_a_size_holds_a_lock_and_reader_none),
		BENCH_TEST(test_loop_that_only_waits),
		BENCH_TEST(test_loop_that_does_something_while_it_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Only shown: the reader does nothing with the number that it loads but print it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "only-shown"

/* The reader loads an int, passes it to `function`, and discards it. */
static struct bench *handed_to(void **state, const char *function)
{
	struct bench *b = bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");

	bench_datum(b, "plain", "struct plain", "thing");
	bench_type(b, "int");
	/* movl (%rdi),%esi; call 1f; 1: xorl %eax,%eax; ret */
	bench_code(b, b->reader, CODE("\x8b\x37\xe8\x00\x00\x00\x00\x31\xc0\xc3"), 0);
	if (function)
		bench_call(b, b->reader, 2, function);
	return b;
}

static struct bench *shown(void **state)
{
	return handed_to(state, "seq_printf");
}

static void test_number_that_is_shown(void **state)
{
	struct bench *b = shown(state);

	bench_expect(b, VERDICT_BENIGN, RULE);
	bench_says(b, " for people");
}

static void test_number_that_goes_nobody_knows_where(void **state)
{
	struct bench *b = handed_to(state, NULL);

	bench_expect_not(b, RULE);
}

static void test_number_that_goes_to_a_function_like_any_other(void **state)
{
	struct bench *b = handed_to(state, "seq_open");

	bench_expect_not(b, RULE);
}

static void test_number_that_is_not_used(void **state)
{
	struct bench *b = shown(state);

	bench_code(b, b->reader, CODE("\x8b\x37\x31\xf6\xc3"), 0); /* movl (%rdi),%esi; xorl %esi,%esi; ret */
	bench_expect_not(b, RULE);
}

static void test_number_that_is_tested_too(void **state)
{
	struct bench *b = shown(state);

	/* movl (%rdi),%esi; testl %esi,%esi; je 1f; call 1f; 1: xorl %esi,%esi; xorl %eax,%eax; ret */
	bench_code(b, b->reader, CODE("\x8b\x37\x85\xf6\x74\x05\xe8\0\0\0\0\x31\xf6\x31\xc0\xc3"), 0);
	bench_call(b, b->reader, 6, "seq_printf");
	bench_expect_not(b, RULE);
}

static void test_number_that_is_an_index_too(void **state)
{
	struct bench *b = shown(state);

	/* movl (%rdi),%esi; movq (%rdx,%rsi,8),%rdx; call 1f; 1: xorl %eax,%eax; ret */
	bench_code(b, b->reader, CODE("\x8b\x37\x48\x8b\x14\xf2\xe8\0\0\0\0\x31\xc0\xc3"), 0);
	bench_call(b, b->reader, 6, "seq_printf");
	bench_expect_not(b, RULE);
}

static void test_number_that_is_counted_up_too(void **state)
{
	struct bench *b = shown(state);

	/* movl (%rdi),%esi; leal 1(%rsi),%eax; movl %eax,(%rdi); xorl %eax,%eax; call 1f; 1: xorl %eax,%eax; ret */
	bench_code(b, b->reader, CODE("\x8b\x37\x8d\x46\x01\x89\x07\x31\xc0\xe8\0\0\0\0\x31\xc0\xc3"), 0);
	bench_call(b, b->reader, 9, "seq_printf");
	bench_expect_not(b, RULE);
}

/* ---- sides whose code or kind of access is not known ---- */

static void test_number_whose_readers_code_is_not_known(void **state)
{
	struct bench *b = shown(state);

	bench_side(b, b->reader)->code_len = 0;
	bench_expect_not(b, RULE);
}

/* The writer may free the memory of the number. */
static void test_number_whose_writers_code_is_not_known(void **state)
{
	struct bench *b = shown(state);

	bench_side(b, b->writer)->code_len = 0;
	bench_expect_not(b, RULE);
}

static void test_number_of_unknown_size(void **state)
{
	struct bench *b = shown(state);

	bench_side(b, b->reader)->size = 0;
	bench_expect_not(b, RULE);
}

/* The kept code of a side comes from one instance. In another instance the side stored. */
static void test_number_that_its_reader_wrote_in_another_instance(void **state)
{
	struct bench *b = shown(state);

	bench_code(b, 0, CODE("\xc7\x07\x01\0\0\0\xc3"), 0); /* movl $1,(%rdi); ret */
	/* movl (%rdi),%esi; call 1f; 1: xorl %eax,%eax; ret */
	bench_code(b, 1, CODE("\x8b\x37\xe8\0\0\0\0\x31\xc0\xc3"), 0);
	bench_call(b, 1, 2, "seq_printf");
	b->race->rw[0] = b->race->rw[1] = INSN_READ | INSN_WRITE;
	bench_expect_not(b, RULE);
}

static void test_number_of_two_readers(void **state)
{
	struct bench *b = shown(state);

	b->race->rw[b->writer] = INSN_READ;
	bench_expect_not(b, RULE);
}

/* ---- a function that prints a pointer may print the memory that it points to ---- */

static void test_pointer_that_is_shown(void **state)
{
	struct bench *b = shown(state);

	bench_type(b, "char *");
	bench_expect_not(b, RULE);
}

static void test_pointer_to_a_function_that_is_shown(void **state)
{
	struct bench *b = shown(state);

	bench_type(b, "int (*)(void)");
	bench_expect_not(b, RULE);
}

/* The name of the typedef does not show that the datum is a pointer. Its values do. */
static void test_pointer_by_its_values_that_is_shown(void **state)
{
	struct bench *b = shown(state);

	bench_type(b, "initcall_t");
	b->race->instances[0].data_len = 8;
	memcpy(b->race->instances[0].before, "\0\x10\x20\x81\xff\xff\xff\xff", 8);
	memset(b->race->instances[0].after, 0, 8);
	bench_expect_not(b, RULE);
}

/* ---- other values that are more than a number ---- */

/* A function that gets a length may print an array of this length. */
static void test_length_that_is_shown(void **state)
{
	struct bench *b = shown(state);

	bench_datum(b, "d", "struct dentry", "d_name.len");
	bench_expect_not(b, RULE);
}

static void test_reference_count_that_is_shown(void **state)
{
	struct bench *b = shown(state);

	bench_datum(b, "obj", "struct obj", "refcnt");
	bench_expect(b, VERDICT_HARMFUL, "reference-count");
}

static void test_part_of_a_number_that_is_shown(void **state)
{
	struct bench *b = shown(state);

	bench_side(b, b->writer)->gva += 2;
	bench_expect_not(b, RULE);
}

/* ---- freed memory must not be read at all ---- */

/* movl $1,(%rdi); call 1f; 1: ret */
static void store_and_call(const struct bench *b)
{
	bench_code(b, b->writer, CODE("\xc7\x07\x01\x00\x00\x00\xe8\x00\x00\x00\x00\xc3"), 0);
}

static void test_writer_that_calls_nobody_knows_what(void **state)
{
	struct bench *b = shown(state);

	store_and_call(b);
	bench_expect(b, VERDICT_BENIGN, RULE);
}

static void test_writer_that_frees_afterwards(void **state)
{
	struct bench *b = shown(state);

	store_and_call(b);
	bench_call(b, b->writer, 6, "kfree");
	bench_expect_not(b, RULE);
}

/* ---- values in registers at a second call, the call that reports a stack overrun ---- */

static struct bench *shown_before_a_call_of(void **state, const char *function)
{
	struct bench *b = bench_of(state, "gt_rwrace_reader", "gt_rwrace_writer");

	bench_datum(b, "plain", "struct plain", "thing");
	/* movl (%rdi),%ebx; movl %ebx,%esi; call 1f; 1: testl %edi,%edi; jne 2f; popq %rbx; ret; 2: call 3f; 3: */
	bench_code(b, b->reader, CODE("\x8b\x1f\x89\xde\xe8\0\0\0\0\x85\xff\x75\x02\x5b\xc3\xe8\0\0\0\0"), 0);
	bench_call(b, b->reader, 4, "seq_printf");
	bench_call(b, b->reader, 15, function);
	return b;
}

/* The second call does not return. */
static void test_number_left_to_a_stack_check(void **state)
{
	struct bench *b = shown_before_a_call_of(state, "__stack_chk_fail");

	bench_expect(b, VERDICT_BENIGN, RULE);
}

static void test_number_left_to_a_call_that_comes_back(void **state)
{
	struct bench *b = shown_before_a_call_of(state, "seq_putc");

	bench_expect_not(b, RULE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_number_that_is_shown),
		BENCH_TEST(test_number_that_goes_nobody_knows_where),
		BENCH_TEST(test_number_that_goes_to_a_function_like_any_other),
		BENCH_TEST(test_number_that_is_not_used),
		BENCH_TEST(test_number_that_is_tested_too),
		BENCH_TEST(test_number_that_is_an_index_too),
		BENCH_TEST(test_number_that_is_counted_up_too),
		BENCH_TEST(test_number_whose_readers_code_is_not_known),
		BENCH_TEST(test_number_whose_writers_code_is_not_known),
		BENCH_TEST(test_number_of_unknown_size),
		BENCH_TEST(test_number_that_its_reader_wrote_in_another_instance),
		BENCH_TEST(test_number_of_two_readers),
		BENCH_TEST(test_pointer_that_is_shown),
		BENCH_TEST(test_pointer_to_a_function_that_is_shown),
		BENCH_TEST(test_pointer_by_its_values_that_is_shown),
		BENCH_TEST(test_length_that_is_shown),
		BENCH_TEST(test_reference_count_that_is_shown),
		BENCH_TEST(test_part_of_a_number_that_is_shown),
		BENCH_TEST(test_writer_that_calls_nobody_knows_what),
		BENCH_TEST(test_writer_that_frees_afterwards),
		BENCH_TEST(test_number_left_to_a_stack_check),
		BENCH_TEST(test_number_left_to_a_call_that_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

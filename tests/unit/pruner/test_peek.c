// SPDX-License-Identifier: GPL-2.0-or-later
/* Peeks: the reader only tells its caller what it found at this moment, as poll() does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "only-peeked"

/* cmpb $1,(%rdi); sete %al; ret. The writer: movb $7,(%rdi); ret */
static struct bench *peek(void **state, const char *function)
{
	struct bench *b = bench_of(state, "gt_flagbits_tester", "gt_flagbits_marker");

	bench_function(b, b->reader, function);
	bench_code(b, b->reader, CODE("\x80\x3f\x01\x0f\x94\xc0\xc3"), 0);
	bench_code(b, b->writer, CODE("\xc6\x07\x07\xc3"), 0);
	b->race->rw[b->reader] = INSN_READ;
	b->race->rw[b->writer] = INSN_WRITE;
	bench_side(b, b->reader)->size = bench_side(b, b->writer)->size = 1;
	bench_side(b, b->reader)->gva = bench_side(b, b->writer)->gva;
	for (unsigned i = 0; i < b->race->kept; i++) {
		b->race->instances[i].data_len = 1;
		b->race->instances[i].before[0] = 3;
		b->race->instances[i].after[0] = 7;
	}
	return b;
}

static void by_poll(void **state)
{
	struct bench *b = peek(state, "datagram_poll");

	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "datagram_poll only tells its caller what ");
}

static void by_another_function(void **state)
{
	bench_expect_not(peek(state, "datagram_recv"), RULE);
}

/* poll() on an object that the writer frees */
static void of_an_object_that_is_freed(void **state)
{
	struct bench *b = peek(state, "datagram_poll");

	bench_code(b, b->writer, CODE("\xc6\x07\x07\xe8\x00\x00\x00\x00\xc3"), 0);
	bench_call(b, b->writer, 3, "kfree");
	bench_expect_not(b, RULE);
}

/* movzbl (%rdi),%eax; movb table(%rax),%al; ret: the value chooses what is read */
static void used_as_an_index(void **state)
{
	struct bench *b = peek(state, "datagram_poll");

	bench_code(b, b->reader, CODE("\x0f\xb6\x07\x8a\x80\x00\x10\x00\x00\xc3"), 0);
	bench_expect_not(b, RULE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(by_poll),
		BENCH_TEST(by_another_function),
		BENCH_TEST(of_an_object_that_is_freed),
		BENCH_TEST(used_as_an_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

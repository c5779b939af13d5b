// SPDX-License-Identifier: GPL-2.0-or-later
/* Locked updates: a LOCKed instruction changes the datum, and the other side only reads it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "locked-update"

#define XADD "\xf0\x0f\xc1\x07"	    /* lock xadd %eax,(%rdi) */
#define LOOK "\x83\x3f\x05\x75\x05" /* cmpl $5,(%rdi); jne over a call */
#define CALL "\xe8\x00\x00\x00\x00"

/* The count goes up and down. */
static struct bench *count(void **state)
{
	struct bench *b = bench_of(state, "gt_flagbits_tester", "gt_flagbits_marker");

	bench_unnamed(b->race);
	bench_code(b, b->reader, CODE(LOOK CALL "\xc3"), 0);
	bench_call(b, b->reader, 5, "complain");
	bench_code(b, b->writer, CODE(XADD "\xc3"), 0);
	bench_side(b, b->writer)->locked = true;
	b->race->rw[b->reader] = INSN_READ;
	b->race->rw[b->writer] = INSN_READ | INSN_WRITE;
	for (unsigned i = 0; i < 2; i++) {
		bench_side(b, i)->size = 4;
		bench_side(b, i)->gva = 0xffff888000001040;
	}
	for (unsigned i = 0; i < b->race->kept; i++) {
		b->race->instances[i].data_len = 4;
		memcpy(b->race->instances[i].before, &(uint32_t){9 - i}, 4);
		memcpy(b->race->instances[i].after, &(uint32_t){4 + i}, 4);
	}
	return b;
}

static void only_read(void **state)
{
	struct bench *b = count(state);

	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "changes the datum by a LOCKed instruction, and gt_flagbits_tester only reads it");
}

static void plain_update(void **state)
{
	struct bench *b = count(state);

	bench_side(b, b->writer)->locked = false;
	bench_expect_not(b, RULE);
}

static void reader_that_frees(void **state)
{
	struct bench *b = count(state);

	bench_code(b, b->reader, CODE(LOOK CALL "\xc3"), 0);
	bench_call(b, b->reader, 5, "kfree");
	bench_expect_not(b, RULE);
}

/* A count of users is a LOCKed word, too: the writer frees the object that RDI points into. */
static void writer_that_frees_the_object(void **state)
{
	struct bench *b = count(state);

	bench_code(b, b->writer, CODE(XADD CALL "\xc3"), 0);
	bench_call(b, b->writer, 4, "kfree");
	bench_expect_not(b, RULE);
}

static void writer_that_frees_a_packet(void **state)
{
	struct bench *b = count(state);

	bench_code(b, b->writer, CODE(XADD CALL "\xc3"), 0);
	bench_call(b, b->writer, 4, "kfree_skb");
	bench_expect(b, VERDICT_UNCLEAR, RULE);
}

/* mov (%rdi),%eax; movzbl 0x1000(%rax),%eax; ret */
static void index_of_a_table(void **state)
{
	struct bench *b = count(state);

	bench_code(b, b->reader, CODE("\x8b\x07\x0f\xb6\x80\x00\x10\x00\x00\xc3"), 0);
	bench_expect_not(b, RULE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(only_read),
		BENCH_TEST(plain_update),
		BENCH_TEST(reader_that_frees),
		BENCH_TEST(writer_that_frees_the_object),
		BENCH_TEST(writer_that_frees_a_packet),
		BENCH_TEST(index_of_a_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

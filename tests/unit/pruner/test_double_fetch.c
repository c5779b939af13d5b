// SPDX-License-Identifier: GPL-2.0-or-later
/* Double fetches: a list that is counted in one walk and used in a second one, while the other side changes the list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "double-fetch"

#define BEGIN "\x48\x8b\x03\x31\xd2" /* mov (%rbx),%rax; xor %edx,%edx */
#define NEXT_RAX "\x48\x8b\x00"	     /* mov (%rax),%rax */
#define COUNT "\x83\xc2\x01"	     /* add $1,%edx */
#define UNTIL_RBX "\x48\x39\xc3"     /* cmp %rax,%rbx */
#define AGAIN "\x75\xf5"	     /* jne to NEXT_RAX */
#define RESERVE "\xe8\x00\x00\x00\x00"
#define BEGIN_AGAIN "\x48\x8b\x33"			   /* mov (%rbx),%rsi */
#define STORE "\x89\x10"				   /* mov %edx,(%rax) */
#define LOOK "\x8b\x10"					   /* mov (%rax),%edx */
#define SECOND_WALK "\x48\x8b\x36\x48\x39\xf3\x75\xf6\xc3" /* mov (%rsi),%rsi; cmp %rsi,%rbx; jne to what is before; ret */
#define AT_FIRST 5
#define AT_SECOND 26

#define FIRST_WALK BEGIN NEXT_RAX COUNT UNTIL_RBX AGAIN RESERVE

static struct bench *walks(void **state, const char *code, size_t len, uint32_t at)
{
	struct bench *b = bench_of(state, "gt_alias_reader", "gt_alias_writer");

	bench_code(b, b->reader, code, len, at);
	b->race->rw[b->reader] = INSN_READ;
	b->race->rw[b->writer] = INSN_WRITE;
	return b;
}

static void counted_and_stored(void **state)
{
	struct bench *b = walks(state, CODE(FIRST_WALK BEGIN_AGAIN STORE SECOND_WALK), AT_FIRST);

	bench_expect(b, VERDICT_HARMFUL, RULE);
	bench_says(b,
		   "counts the entries of a list at +0x5, and stores something for each entry in a second walk of the list at "
		   "+0x1a");
	bench_code(b, b->reader, CODE(FIRST_WALK BEGIN_AGAIN STORE SECOND_WALK), AT_SECOND);
	bench_expect(b, VERDICT_HARMFUL, RULE);
}

/* lea (%rcx),%rcx in place of the addition */
static void no_count(void **state)
{
	struct bench *b = walks(
		state, CODE(BEGIN NEXT_RAX "\x48\x8d\x09" UNTIL_RBX AGAIN RESERVE BEGIN_AGAIN STORE SECOND_WALK), AT_FIRST);

	bench_expect_not(b, RULE);
}

static void no_store(void **state)
{
	struct bench *b = walks(state, CODE(FIRST_WALK BEGIN_AGAIN LOOK SECOND_WALK), AT_FIRST);

	bench_expect_not(b, RULE);
}

static void one_walk(void **state)
{
	struct bench *b = walks(state, CODE(FIRST_WALK "\xc3"), AT_FIRST);

	bench_expect_not(b, RULE);
}

/* mov %rcx,%rbx before the second walk */
static void another_list(void **state)
{
	struct bench *b = walks(state, CODE(FIRST_WALK "\x48\x89\xcb" BEGIN_AGAIN STORE SECOND_WALK), AT_FIRST);

	bench_expect_not(b, RULE);
}

/* The access is the load of the first entry, before both walks. */
static void access_outside_of_the_walks(void **state)
{
	struct bench *b = walks(state, CODE(FIRST_WALK BEGIN_AGAIN STORE SECOND_WALK), 0);

	bench_expect_not(b, RULE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(counted_and_stored), BENCH_TEST(no_count),	  BENCH_TEST(no_store),
		BENCH_TEST(one_walk),		BENCH_TEST(another_list), BENCH_TEST(access_outside_of_the_walks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

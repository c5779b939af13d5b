// SPDX-License-Identifier: GPL-2.0-or-later
/* Gets of references that come after the last put. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "get-after-last-put"

#define INC "\xf0\xff\x07"		    /* lock incl (%rdi) */
#define XADD "\xf0\x0f\xc1\x07"		    /* lock xadd %eax,(%rdi) */
#define DEC_AND_TEST "\xf0\xff\x0f\x74\x01" /* lock decl (%rdi); je over a ret */
#define RET "\xc3"
#define CALL "\xe8\x00\x00\x00\x00"

/* gt_flagbits_tester is about to get a reference when gt_flagbits_marker puts the last one. */
static struct bench *count(void **state)
{
	struct bench *b = bench_of(state, "gt_flagbits_tester", "gt_flagbits_marker");

	bench_unnamed(b->race);
	bench_code(b, b->reader, CODE(INC RET), 0);
	bench_code(b, b->writer, CODE(DEC_AND_TEST RET CALL RET), 0);
	bench_call(b, b->writer, 6, "thing_free");
	for (unsigned i = 0; i < 2; i++) {
		b->race->rw[i] = INSN_READ | INSN_WRITE;
		bench_side(b, i)->locked = true;
		bench_side(b, i)->size = 4;
		bench_side(b, i)->gva = 0xffff888000001040;
	}
	for (unsigned i = 0; i < b->race->kept; i++) {
		b->race->instances[i].data_len = 4;
		memcpy(b->race->instances[i].before, &(uint32_t){1}, 4);
		memcpy(b->race->instances[i].after, &(uint32_t){0}, 4);
	}
	return b;
}

static void last_put(void **state)
{
	struct bench *b = count(state);

	bench_expect(b, VERDICT_HARMFUL, RULE);
	bench_says(b, "gt_flagbits_tester gets a reference after the last one was put");
	bench_says(b, "gt_flagbits_marker makes the count 0, and calls thing_free() for that");
}

/* Set the code of the put, with a call of thing_free() at `call`. */
static void put(struct bench *b, const void *code, size_t len, uint16_t call)
{
	bench_code(b, b->writer, code, len, 0);
	bench_call(b, b->writer, call, "thing_free");
}

/* As in refcount_dec_and_test(): lock xadd %eax,(%rdi); cmp $1,%eax; je over a ret. */
static void refcount(void **state)
{
	struct bench *b = count(state);

	bench_code(b, b->reader, CODE(XADD "\x85\xc0" RET), 0);
	put(b, CODE(XADD "\x83\xf8\x01\x74\x01" RET CALL RET), 10);
	bench_expect(b, VERDICT_HARMFUL, RULE);
	/* cmp $1,%edx: another register */
	put(b, CODE(XADD "\x83\xfa\x01\x74\x01" RET CALL RET), 10);
	bench_expect(b, VERDICT_SYNCHRONISATION, "marked-accesses");
	/* cmp $2,%eax: not the last one */
	put(b, CODE(XADD "\x83\xf8\x02\x74\x01" RET CALL RET), 10);
	bench_expect(b, VERDICT_SYNCHRONISATION, "marked-accesses");
	/* a put by sub, and a copy of a register before the branch: lock subl $1,(%rdi); mov %rdi,%rbx; jne over the call */
	put(b, CODE("\xf0\x83\x2f\x01\x48\x89\xfb\x75\x05" CALL RET), 9);
	bench_expect(b, VERDICT_HARMFUL, RULE);
}

static void counts_of_other_things(void **state)
{
	struct bench *b = count(state);

	/* It tells somebody that nothing is under way. */
	bench_code(b, b->writer, CODE(DEC_AND_TEST RET CALL RET), 0);
	bench_call(b, b->writer, 6, "complete");
	bench_expect(b, VERDICT_SYNCHRONISATION, "marked-accesses");
	/* It frees something in any case. */
	put(b, CODE("\xf0\xff\x0f\x74\x00" CALL RET), 5);
	bench_expect(b, VERDICT_SYNCHRONISATION, "marked-accesses");
	/* It frees if others are left. */
	put(b, CODE("\xf0\xff\x0f\x75\x01" RET CALL RET), 6);
	bench_expect(b, VERDICT_SYNCHRONISATION, "marked-accesses");
	/* It looks at the count again, perhaps under a lock: cmpl $0,(%rdi). */
	put(b, CODE(DEC_AND_TEST RET "\x83\x3f\x00" CALL RET), 9);
	bench_expect(b, VERDICT_SYNCHRONISATION, "marked-accesses");
	/* The same by a copy of the register: mov %rdi,%rbx; mov (%rbx),%eax. */
	put(b, CODE("\xf0\xff\x0f\x74\x01" RET "\x48\x89\xfb\x8b\x03" CALL RET), 11);
	bench_expect(b, VERDICT_SYNCHRONISATION, "marked-accesses");
	/* It drops a reference of another object. */
	bench_code(b, b->writer, CODE(DEC_AND_TEST RET CALL RET), 0);
	bench_call(b, b->writer, 6, "css_put");
	bench_expect(b, VERDICT_SYNCHRONISATION, "marked-accesses");
	/* The branch is of something else: lock decl (%rdi); test %esi,%esi; je. */
	put(b, CODE("\xf0\xff\x0f\x85\xf6\x74\x01" RET CALL RET), 8);
	bench_expect(b, VERDICT_SYNCHRONISATION, "marked-accesses");
}

/* Both sides put. */
static void no_get(void **state)
{
	struct bench *b = count(state);

	bench_code(b, b->reader, CODE("\xf0\xff\x0f" RET), 0);
	bench_expect(b, VERDICT_SYNCHRONISATION, "marked-accesses");
}

/* A plain increment is another race. */
static void plain_get(void **state)
{
	struct bench *b = count(state);

	bench_code(b, b->reader, CODE("\xff\x07" RET), 0);
	bench_side(b, b->reader)->locked = false;
	bench_expect_not(b, RULE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(last_put), BENCH_TEST(refcount),  BENCH_TEST(counts_of_other_things),
		BENCH_TEST(no_get),   BENCH_TEST(plain_get),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

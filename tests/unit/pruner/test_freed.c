// SPDX-License-Identifier: GPL-2.0-or-later
/* Frees after an access: of the object that the access was to, of what the datum points to, and of another object. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "freed-afterwards"

#define OBJECT UINT64_C(0xffff888000001040)
#define SIZE 64
#define ELSEWHERE UINT64_C(0xffff888000009000)

#define STORE "\x48\x89\x37"	    /* mov %rsi,(%rdi), at offset 8 of the object */
#define FREE_RBX "\x48\x89\xdf"	    /* mov %rbx,%rdi */
#define FREE_OWN "\x48\x83\xef\x08" /* sub $8,%rdi */
#define FREE_RAX "\x48\x89\xc7"	    /* mov %rax,%rdi */
#define CALL "\xe8\x00\x00\x00\x00"

/* The writer stores to a field of a slab object of 64 bytes, and frees by `callee`. RBX holds `rbx` at the access. */
static struct bench *frees(void **state, const char *code, size_t len, uint16_t call, const char *callee, uint64_t rbx)
{
	struct bench *b = bench_of(state, "gt_alias_reader", "gt_alias_writer");
	struct race_side *writer = bench_side(b, b->writer);
	struct guest_memory *m = &b->race->first.memory;

	bench_unnamed(b->race);
	bench_code(b, b->reader, CODE("\x48\x83\x3f\x00\xc3"), 0); /* cmpq $0,(%rdi); ret */
	bench_code(b, b->writer, code, len, 0);
	bench_call(b, b->writer, call, callee);
	b->race->rw[b->reader] = INSN_READ;
	b->race->rw[b->writer] = INSN_WRITE;
	*m = (struct guest_memory){.kind = GUEST_MEMORY_SLAB, .object = OBJECT, .object_size = SIZE};
	for (unsigned i = 0; i < 2; i++) {
		bench_side(b, i)->gva = OBJECT + 8;
		bench_side(b, i)->size = 8;
	}
	for (unsigned i = 0; i < b->race->kept; i++) {
		b->race->instances[i].data_len = 8;
		memset(b->race->instances[i].before, 0, 8);
		memcpy(b->race->instances[i].after, &(uint64_t){7}, 8);
	}
	writer->regs.gpr[X86_RDI] = OBJECT + 8;
	writer->regs.gpr[X86_RBX] = rbx;
	return b;
}

#define AT_RBX 6
#define frees_rbx(state, callee, rbx) frees(state, CODE(STORE FREE_RBX CALL "\xc3"), AT_RBX, callee, rbx)

static void the_object(void **state)
{
	struct bench *b = frees_rbx(state, "kfree", OBJECT);

	bench_expect(b, VERDICT_HARMFUL, RULE);
	bench_says(b, "gt_alias_writer may call kfree() after its access to ");
}

/* call_rcu() gets the address of a member. */
static void a_member_of_the_object(void **state)
{
	bench_expect(frees_rbx(state, "call_rcu", OBJECT + SIZE - 16), VERDICT_HARMFUL, RULE);
}

static void the_object_by_the_pointer_of_the_access(void **state)
{
	bench_expect(frees(state, CODE(STORE FREE_OWN CALL "\xc3"), 7, "kfree", ELSEWHERE), VERDICT_HARMFUL, RULE);
}

static void another_object(void **state)
{
	static const char *const functions[] = {"kfree", "kvfree", "vfree", "call_rcu", "kvfree_call_rcu"};

	for (unsigned i = 0; i < ROWS(functions); i++) {
		bench_expect_not(frees_rbx(state, functions[i], ELSEWHERE), RULE);
		bench_expect_not(frees_rbx(state, functions[i], OBJECT + SIZE), RULE);
	}
}

/* kmem_cache_free() takes the object as its second argument: mov %rbx,%rsi. */
static void another_object_of_a_cache(void **state)
{
	const char code[] = STORE "\x48\x89\xde" CALL "\xc3";

	bench_expect_not(frees(state, CODE(code), AT_RBX, "kmem_cache_free", ELSEWHERE), RULE);
	bench_expect(frees(state, CODE(code), AT_RBX, "kmem_cache_free", OBJECT), VERDICT_HARMFUL, RULE);
}

/* A packet's data go with the packet. */
static void a_function_that_frees_more(void **state)
{
	bench_expect(frees_rbx(state, "kfree_skb", ELSEWHERE), VERDICT_HARMFUL, RULE);
}

static void what_the_datum_pointed_to(void **state)
{
	struct bench *b = frees_rbx(state, "kfree", ELSEWHERE);

	memcpy(b->race->instances[1].before, &(uint64_t){ELSEWHERE + 16}, 8);
	bench_expect(b, VERDICT_HARMFUL, RULE);
}

/* call find; mov %rax,%rdi; call kfree */
static void an_unknown_object(void **state)
{
	struct bench *b = frees(state, CODE(STORE CALL FREE_RAX CALL "\xc3"), 3, "find", ELSEWHERE);

	bench_call(b, b->writer, 11, "kfree");
	bench_expect(b, VERDICT_HARMFUL, RULE);
}

/* The first instance freed nothing. */
static void null(void **state)
{
	bench_expect(frees_rbx(state, "kfree", 0), VERDICT_HARMFUL, RULE);
}

/* Without the length of the object: an address above the datum, or 4 MiB below, is that of another object. */
static void an_object_of_unknown_length(void **state)
{
	static const struct {
		uint64_t freed;
		bool may;
	} rows[] = {{OBJECT, true}, {OBJECT + 8, true}, {OBJECT + 9, false}, {OBJECT + 8 - (4u << 20), false}};

	for (unsigned i = 0; i < ROWS(rows); i++) {
		struct bench *b = frees_rbx(state, "kfree", rows[i].freed);

		b->race->first.memory.object = b->race->first.memory.object_size = 0;
		if (rows[i].may)
			bench_expect(b, VERDICT_HARMFUL, RULE);
		else
			bench_expect_not(b, RULE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(the_object),
		BENCH_TEST(a_member_of_the_object),
		BENCH_TEST(the_object_by_the_pointer_of_the_access),
		BENCH_TEST(another_object),
		BENCH_TEST(another_object_of_a_cache),
		BENCH_TEST(a_function_that_frees_more),
		BENCH_TEST(what_the_datum_pointed_to),
		BENCH_TEST(an_unknown_object),
		BENCH_TEST(null),
		BENCH_TEST(an_object_of_unknown_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

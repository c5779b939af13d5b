// SPDX-License-Identifier: GPL-2.0-or-later
/* What a store does to what was there: which bits it changes, whether it counts, whether it is a constant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_code.h"

struct write_case {
	const char *text, *code;
	size_t len;
	uint32_t at; /* of the store */
	struct flow_write wanted;
};

static const struct write_case write_cases[] = {
	/* orl $4,(%rdi) */
	{"or bits", CODE("\x83\x0f\x04"), 0, {true, 4, FLOW_ELSE, false, 0}},
	/* andl $~8,(%rdi) */
	{"and bits", CODE("\x83\x27\xf7"), 0, {true, 8, FLOW_ELSE, false, 0}},
	/* btsl $5,(%rdi) */
	{"bts", CODE("\x0f\xba\x2f\x05"), 0, {true, 0x20, FLOW_ELSE, false, 0}},
	/* addl $0x10,(%rdi) */
	{"add 16", CODE("\x83\x07\x10"), 0, {true, 0xfffffff0, FLOW_UP, false, 0}},
	/* incl (%rdi) */
	{"inc", CODE("\xff\x07"), 0, {true, 0xffffffff, FLOW_UP, false, 0}},
	/* decq (%rdi) */
	{"dec", CODE("\x48\xff\x0f"), 0, {true, ~0ull, FLOW_DOWN, false, 0}},
	/* addq %rax,(%rdi) */
	{"add register", CODE("\x48\x01\x07"), 0, {true, ~0ull, FLOW_SUM, false, 0}},
	/* subl $-1,(%rdi) */
	{"sub -1", CODE("\x83\x2f\xff"), 0, {true, 0xffffffff, FLOW_UP, false, 0}},
	/* movl $7,(%rdi) */
	{"constant", CODE("\xc7\x07\x07\x00\x00\x00"), 0, {false, 0xffffffff, FLOW_ELSE, false, 0}},
	/* movl %eax,(%rdi) */
	{"register", CODE("\x89\x07"), 0, {false, 0xffffffff, FLOW_ELSE, false, 0}},
	/* xchgl %eax,(%rdi) */
	{"xchg", CODE("\x87\x07"), 0, {false, 0xffffffff, FLOW_ELSE, false, 0}},
	/* movl (%rdi),%eax; movl %eax,%edx; andl $~2,%eax; orl $2,%edx; andl $1,%esi; cmovne %edx,%eax; movl %eax,(%rdi) */
	{"flags of two ways",
	 CODE("\x8b\x07\x89\xc2\x83\xe0\xfd\x83\xca\x02\x83\xe6\x01\x0f\x45\xc2\x89\x07"),
	 16,
	 {true, 2, FLOW_ELSE, false, 0}},
	/* movzbl (%rdi),%edx; andl $7,%eax; andl $~0xf,%edx; orl %eax,%edx; movb %dl,(%rdi) */
	{"bit-field", CODE("\x0f\xb6\x17\x83\xe0\x07\x83\xe2\xf0\x09\xc2\x88\x17"), 11, {true, 0xf, FLOW_ELSE, false, 0}},
	/* movl 8(%rdi),%eax; orl $1,%eax; movl %eax,(%rdi) */
	{"other place", CODE("\x8b\x47\x08\x83\xc8\x01\x89\x07"), 6, {false, 0xffffffff, FLOW_ELSE, false, 0}},
	/* movl (%rdi),%eax; orl $1,%eax; addq $8,%rdi; movl %eax,(%rdi) */
	{"base changed", CODE("\x8b\x07\x83\xc8\x01\x48\x83\xc7\x08\x89\x07"), 9, {false, 0xffffffff, FLOW_ELSE, false, 0}},
	/* movl (%rdi),%eax; orl $1,%eax; call 1f; movl %eax,(%rdi); 1: nop */
	{"call between",
	 CODE("\x8b\x07\x83\xc8\x01\xe8\x02\x00\x00\x00\x89\x07\x90"),
	 10,
	 {false, 0xffffffff, FLOW_ELSE, false, 0}},
	/* movl (%rbx),%ebp; orl $1,%ebp; call 1f; movl %ebp,(%rbx); 1: nop */
	{"call, kept registers",
	 CODE("\x8b\x2b\x83\xcd\x01\xe8\x02\x00\x00\x00\x89\x2b\x90"),
	 10,
	 {true, 1, FLOW_ELSE, false, 0}},
	/* movq %rdi,%rbx; movl (%rdi),%eax; orl $1,%eax; movl %eax,(%rbx) */
	{"copied base", CODE("\x48\x89\xfb\x8b\x07\x83\xc8\x01\x89\x03"), 8, {true, 1, FLOW_ELSE, false, 0}},
	/* movl (%rdi),%eax; testb $1,%sil; je 1f; addl $1,%eax; jmp 2f; 1: subl $1,%eax; 2: movl %eax,(%rdi) */
	{"up or down",
	 CODE("\x8b\x07\x40\xf6\xc6\x01\x74\x05\x83\xc0\x01\xeb\x03\x83\xe8\x01\x89\x07"),
	 16,
	 {true, 0xffffffff, FLOW_UP | FLOW_DOWN, false, 0}},
	/* movq (%rdi),%rax; leaq 1(%rax),%rdx; movq %rdx,(%rdi) */
	{"up by lea", CODE("\x48\x8b\x07\x48\x8d\x50\x01\x48\x89\x17"), 7, {true, ~0ull, FLOW_UP, false, 0}},
	/* movl (%rdi),%eax; orl $1,%eax; 1: nop; movl %eax,(%rdi); movl %esi,%eax; jmp 1b */
	{"another way in",
	 CODE("\x8b\x07\x83\xc8\x01\x90\x89\x07\x89\xf0\xeb\xf9"),
	 6,
	 {false, 0xffffffff, FLOW_ELSE, false, 0}},
	/* movl (%rdi),%eax; movl %esi,(%rdi); orl $1,%eax; movl %eax,(%rdi) */
	{"stored before", CODE("\x8b\x07\x89\x37\x83\xc8\x01\x89\x07"), 7, {false, 0xffffffff, FLOW_ELSE, false, 0}},
	/* movl (%rdi),%eax; orb $1,%al; movl %eax,(%rdi) */
	{"low byte or", CODE("\x8b\x07\x0c\x01\x89\x07"), 4, {true, 1, FLOW_ELSE, false, 0}},
	/* movq (%rdi),%rbx; orb $1,%bh; movq %rbx,(%rdi) */
	{"set high byte", CODE("\x48\x8b\x1f\x80\xcf\x01\x48\x89\x1f"), 6, {false, ~0ull, FLOW_ELSE, false, 0}},
	/* movzbl (%rdi),%eax; orl $1,%eax; movl %eax,(%rdi) */
	{"narrow load", CODE("\x0f\xb6\x07\x83\xc8\x01\x89\x07"), 6, {false, 0xffffffff, FLOW_ELSE, false, 0}},
	/* movl $1,%edx; shll $6,%edx; movl (%rdi),%eax; orl %edx,%eax; movl %eax,(%rdi) */
	{"shl bit", CODE("\xba\x01\x00\x00\x00\xc1\xe2\x06\x8b\x07\x09\xd0\x89\x07"), 12, {true, 0x40, FLOW_ELSE, false, 0}},
	/* xorl %edx,%edx; sete %dl; movl (%rdi),%eax; orl %edx,%eax; movl %eax,(%rdi) */
	{"setcc", CODE("\x31\xd2\x0f\x94\xc2\x8b\x07\x09\xd0\x89\x07"), 9, {true, 1, FLOW_ELSE, false, 0}},
	/* movl $0x300,%edx; xorb %dh,%dl; movl (%rdi),%eax; orl %edx,%eax; movl %eax,(%rdi) */
	{"xor of two bytes",
	 CODE("\xba\x00\x03\x00\x00\x30\xf2\x8b\x07\x09\xd0\x89\x07"),
	 11,
	 {true, 0x3ff, FLOW_ELSE, false, 0}},
	/* 1: movl (%rdi),%eax; addl $1,%eax; nop; movl %eax,(%rdi); jmp 1b */
	{"counted in a loop", CODE("\x8b\x07\x83\xc0\x01\x90\x89\x07\xeb\xf6"), 6, {true, 0xffffffff, FLOW_UP, false, 0}},
};

static void test_write(void **state)
{
	struct code_bench *b = *state;
	const struct write_case *c = b->row;
	struct flow_write got;

	code_take(b, c->code, c->len, c->at);
	flow_write(b->flow, code_access(b), &got);
	if (got.merges != c->wanted.merges || got.changed != c->wanted.changed || got.deltas != c->wanted.deltas)
		fail_msg("merges %d, changed %#jx, steps %u", got.merges, (uintmax_t)got.changed, got.deltas);
}

/* ---- constants ---- */

static const struct constant_case {
	const char *text, *code;
	size_t len;
	uint32_t at;   /* of the store */
	unsigned insn; /* the store's index */
	bool constant;
	uint64_t value;
} constant_cases[] = {
	/* movl $7,(%rdi) */
	{"immediate", CODE("\xc7\x07\x07\0\0\0"), 0, 0, true, 7},
	/* mov $-1,%eax; mov %al,(%rdi) */
	{"low byte of a constant", CODE("\xb8\xff\xff\xff\xff\x88\x07"), 5, 1, true, 0xff},
	/* mov $-1,%rax; shr $1,%eax; mov %eax,(%rdi) */
	{"shr does not move the upper half down", CODE("\x48\xc7\xc0\xff\xff\xff\xff\xd1\xe8\x89\x07"), 9, 2, true, 0x7fffffff},
	/* mov $4,%eax; shr $33,%eax; mov %eax,(%rdi) */
	{"shr by 33 is by 1", CODE("\xb8\x04\x00\x00\x00\xc1\xe8\x21\x89\x07"), 8, 2, true, 2},
	/* mov %eax,(%rdi) */
	{"register of which nothing is known", CODE("\x89\x07"), 0, 0, false, 0},
};

static void test_constant(void **state)
{
	struct code_bench *b = *state;
	const struct constant_case *c = b->row;
	struct flow_write got;

	code_take(b, c->code, c->len, c->at);
	flow_write(b->flow, c->insn, &got);
	assert_int_equal(got.constant, c->constant);
	if (c->constant)
		assert_int_equal(got.value, c->value);
}

/* ---- a part of a function: what leaves for the rest may come back with anything in its registers ---- */

/* je 1f; je outside; xorl %eax,%eax; subl %eax,(%rdi); 1: ret */
static const char subtract_zero[] = "\x74\x0a\x0f\x84\x00\x02\x00\x00\x31\xc0\x29\x07\xc3";

static void test_zero_in_a_whole_function(void **state)
{
	struct code_bench *b = *state;
	struct flow_write got;

	/* je 1f; xorl %eax,%eax; subl %eax,(%rdi); 1: ret */
	code_take(b, CODE("\x74\x04\x31\xc0\x29\x07\xc3"), 4);
	flow_write(b->flow, code_access(b), &got);
	assert_true(b->code.closed && got.merges && !got.changed);
}

static void test_zero_in_a_part_of_a_function(void **state)
{
	struct code_bench *b = *state;
	struct flow_write got;

	code_take_part(b, CODE(subtract_zero), 10);
	flow_write(b->flow, code_access(b), &got);
	assert_true(!b->code.closed && got.merges && got.changed == 0xffffffff && got.deltas & FLOW_ELSE);
}

static void test_merge_in_a_part_of_a_function(void **state)
{
	struct code_bench *b = *state;
	struct flow_write got;

	/* movl (%rdi),%eax; je outside; orl $1,%eax; movl %eax,(%rdi); ret */
	code_take_part(b, CODE("\x8b\x07\x0f\x84\x00\x02\x00\x00\x83\xc8\x01\x89\x07\xc3"), 11);
	flow_write(b->flow, code_access(b), &got);
	assert_true(!b->code.closed && got.merges && got.changed == 0xffffffff);
}

/* The cold part of a function is another to the linker. */
static void test_branch_out_of_a_whole_function(void **state)
{
	struct code_bench *b = *state;

	code_take(b, CODE(subtract_zero), 10);
	assert_false(b->code.closed);
}

/* An immediate is what it is. */
static void test_immediate_in_a_part_of_a_function(void **state)
{
	struct code_bench *b = *state;
	struct flow_write got;

	/* je outside; orl $4,(%rdi); ret */
	code_take_part(b, CODE("\x0f\x84\x00\x02\x00\x00\x83\x0f\x04\xc3"), 6);
	flow_write(b->flow, code_access(b), &got);
	assert_true(!b->code.closed && got.merges && got.changed == 4);
}

/* jmp out of the kept code; 1: mov (%rdi),%eax; mov %eax,8(%rdi); jmp 1b: a loop that only unkept code enters */
static void test_loop_that_unkept_code_enters(void **state)
{
	struct code_bench *b = *state;

	code_take_part(b, CODE("\xeb\x60\x8b\x07\x89\x47\x08\xeb\xf9"), 2);
	assert_true(flow_same_place(b->flow, 1, 1));
	assert_false(flow_same_place(b->flow, 1, 2));
	assert_int_not_equal(flow_register(b->flow, 2, X86_RDI).root, FLOW_POINTER_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest alone[] = {
		CODE_TEST(test_loop_that_unkept_code_enters),	CODE_TEST(test_zero_in_a_whole_function),
		CODE_TEST(test_zero_in_a_part_of_a_function),	CODE_TEST(test_merge_in_a_part_of_a_function),
		CODE_TEST(test_branch_out_of_a_whole_function), CODE_TEST(test_immediate_in_a_part_of_a_function),
	};
	struct CMUnitTest tests[ROWS(alone) + ROWS(write_cases) + ROWS(constant_cases)], *next = tests;

	for (size_t i = 0; i < ROWS(alone); i++)
		*next++ = alone[i];
	for (size_t i = 0; i < ROWS(write_cases); i++)
		*next++ = CODE_ROW(write_cases[i].text, test_write, &write_cases[i]);
	for (size_t i = 0; i < ROWS(constant_cases); i++)
		*next++ = CODE_ROW(constant_cases[i].text, test_constant, &constant_cases[i]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

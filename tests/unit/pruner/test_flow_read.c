// SPDX-License-Identifier: GPL-2.0-or-later
/* How code uses a loaded value: which bits it uses, and whether it tests, stores, dereferences or discards the value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_code.h"

struct read_case {
	const char *text, *code;
	size_t len;
	uint32_t at; /* offset of the load in the code */
	struct wanted {
		uint64_t used;
		bool written_back;
		unsigned deltas;
		bool tested, dereferenced, shown, escapes;
	} wanted;
};

static const struct read_case read_cases[] = {
	/* testb $1,(%rdi) */
	{"test", CODE("\xf6\x07\x01"), 0, {1, false, 0, true, false, false, false}},
	/* cmpl $0,(%rdi) */
	{"cmp", CODE("\x83\x3f\x00"), 0, {0xffffffff, false, 0, true, false, false, false}},
	/* btl $9,(%rdi) */
	{"bt", CODE("\x0f\xba\x27\x09"), 0, {0x200, false, 0, true, false, false, false}},
	/* movl (%rdi),%eax; testb $4,%al; je 1f; nop; 1: xorl %eax,%eax; ret */
	{"test register", CODE("\x8b\x07\xa8\x04\x74\x01\x90\x31\xc0\xc3"), 0, {4, false, 0, true, false, false, false}},
	/* movl (%rdi),%eax; shrl $3,%eax; andl $1,%eax; ret */
	{"shr and", CODE("\x8b\x07\xc1\xe8\x03\x83\xe0\x01\xc3"), 0, {8, false, 0, false, false, false, true}},
	/* movl (%rdi),%eax; ret */
	{"returned", CODE("\x8b\x07\xc3"), 0, {0xffffffff, false, 0, false, false, false, true}},
	/* movl (%rdi),%eax; xorl %eax,%eax; ret */
	{"dead", CODE("\x8b\x07\x31\xc0\xc3"), 0, {0, false, 0, false, false, false, false}},
	/* movl (%rdi),%eax; andl $~1,%eax; movl %eax,(%rdi); xorl %eax,%eax; ret */
	{"written back",
	 CODE("\x8b\x07\x83\xe0\xfe\x89\x07\x31\xc0\xc3"),
	 0,
	 {0xfffffffe, true, FLOW_ELSE, false, false, false, false}},
	/* movl (%rdi),%eax; addl $1,%eax; movl %eax,(%rdi); xorl %eax,%eax; ret */
	{"counted up",
	 CODE("\x8b\x07\x83\xc0\x01\x89\x07\x31\xc0\xc3"),
	 0,
	 {0xffffffff, true, FLOW_UP, false, false, false, false}},
	/* movl (%rdi),%eax; testb $1,%sil; je 1f; addl $1,%eax; jmp 2f; 1: subl $1,%eax; 2: movl %eax,(%rdi); xorl %eax,%eax;
	   ret */
	{"counted down or up",
	 CODE("\x8b\x07\x40\xf6\xc6\x01\x74\x05\x83\xc0\x01\xeb\x03\x83\xe8\x01\x89\x07\x31\xc0\xc3"),
	 0,
	 {0xffffffff, true, FLOW_UP | FLOW_DOWN, false, false, false, false}},
	/* movq (%rdi),%rdx; movq 8(%rdx),%rax; ret */
	{"dereferenced", CODE("\x48\x8b\x17\x48\x8b\x42\x08\xc3"), 0, {~0ull, false, 0, false, true, false, true}},
	/* movl (%rdi),%edx; andl $6,%edx; movl %esi,%eax; jne 1f; nop; 1: movl $0,%edx; ret */
	{"flags behind a move",
	 CODE("\x8b\x17\x83\xe2\x06\x89\xf0\x75\x01\x90\xba\x00\x00\x00\x00\xc3"),
	 0,
	 {6, false, 0, true, false, false, false}},
	/* movl (%rdi),%ecx; andl $6,%ecx; xorl %eax,%eax; ret */
	{"narrowed, not tested", CODE("\x8b\x0f\x83\xe1\x06\x31\xc0\xc3"), 0, {0, false, 0, false, false, false, false}},
	/* movl (%rdi),%eax; pushq %rax; xorl %eax,%eax; ret */
	{"pushed", CODE("\x8b\x07\x50\x31\xc0\xc3"), 0, {0xffffffff, false, 0, false, false, false, true}},
	/* movl (%rdi),%esi; call 1f; 1: ret */
	{"argument", CODE("\x8b\x37\xe8\x00\x00\x00\x00\xc3"), 0, {0xffffffff, false, 0, false, false, false, true}},
	/* movl (%rdi),%eax; call 1f; 1: ret */
	{"lost by a call", CODE("\x8b\x07\xe8\x00\x00\x00\x00\xc3"), 0, {0, false, 0, false, false, false, false}},
	/* movl (%rdi),%ecx; movl %ecx,8(%rdi); xorl %eax,%eax; ret */
	{"stored elsewhere", CODE("\x8b\x0f\x89\x4f\x08\x31\xc0\xc3"), 0, {0xffffffff, false, 0, false, false, false, true}},
	/* movl (%rdi),%eax; movzbl %al,%eax; testl %eax,%eax; je 1f; nop; 1: xorl %eax,%eax; ret */
	{"low byte",
	 CODE("\x8b\x07\x0f\xb6\xc0\x85\xc0\x74\x01\x90\x31\xc0\xc3"),
	 0,
	 {0xff, false, 0, true, false, false, false}},
	/* movl (%rdi),%edx; testl %esi,%esi; je 1f; testb $1,%dl; jmp 2f; 1: testb $2,%dl; 2: sete %al; movl $0,%edx; ret */
	{"two ways, two bits",
	 CODE("\x8b\x17\x85\xf6\x74\x05\xf6\xc2\x01\xeb\x03\xf6\xc2\x02\x0f\x94\xc0\xba\x00\x00\x00\x00\xc3"),
	 0,
	 {3, false, 0, true, false, false, false}},
	/* movl (%rdi),%ecx; testb $1,%cl; je 1f; xorl %eax,%eax; ret; 1: ud2; nop */
	{"BUG_ON() at the end",
	 CODE("\x8b\x0f\xf6\xc1\x01\x74\x03\x31\xc0\xc3\x0f\x0b\x90"),
	 0,
	 {1, false, 0, true, false, false, false}},
	/* movl (%rdi),%edx; jmp .+100 */
	{"leaves the code", CODE("\x8b\x17\xeb\x62"), 0, {0xffffffff, false, 0, false, false, false, true}},
	/* movl (%rdi),%ecx; testl %ecx,%ecx; js 1f; 1: xorl %eax,%eax; ret */
	{"bit test with sign",
	 CODE("\x8b\x0f\x85\xc9\x78\x00\x31\xc0\xc3"),
	 0,
	 {0xffffffff, false, 0, true, false, false, false}},
	/* 1: movl (%rdi),%ecx; testb $8,%cl; pause; jne 1b; xorl %eax,%eax; ret */
	{"in a loop", CODE("\x8b\x0f\xf6\xc1\x08\xf3\x90\x75\xf7\x31\xc0\xc3"), 0, {8, false, 0, true, false, false, false}},
	/* cmpl %eax,(%rdi) */
	{"cmp with a register", CODE("\x39\x07"), 0, {0xffffffff, false, 0, true, false, false, false}},
	/* cmpl (%rdi),%eax */
	{"cmp from memory", CODE("\x3b\x07"), 0, {0xffffffff, false, 0, true, false, false, false}},
	/* orl $4,(%rdi); xorl %eax,%eax; ret */
	{"or in memory", CODE("\x83\x0f\x04\x31\xc0\xc3"), 0, {0xffffffff, false, 0, false, false, false, false}},
	/* lock decl (%rdi); je 1f; nop; 1: xorl %eax,%eax; ret */
	{"count in memory, tested",
	 CODE("\xf0\xff\x0f\x74\x01\x90\x31\xc0\xc3"),
	 0,
	 {0xffffffff, false, 0, true, false, false, false}},
	/* lock xaddl %eax,(%rdi); ret */
	{"xadd", CODE("\xf0\x0f\xc1\x07\xc3"), 0, {0xffffffff, false, 0, false, false, false, true}},
	/* lock cmpxchgl %edx,(%rdi); jne 1f; nop; 1: xorl %eax,%eax; ret */
	{"cmpxchg, tested",
	 CODE("\xf0\x0f\xb1\x17\x75\x01\x90\x31\xc0\xc3"),
	 0,
	 {0xffffffff, false, 0, true, false, false, true}},
	/* movl (%rdi),%eax; lock orl %eax,(%rdi); xorl %eax,%eax; ret */
	{"written back locked", CODE("\x8b\x07\xf0\x09\x07\x31\xc0\xc3"), 0, {0xffffffff, false, 0, false, false, false, true}},
	/* movl (%rdi),%edx; xorl %eax,%eax; ret */
	{"second half returned", CODE("\x8b\x17\x31\xc0\xc3"), 0, {0, false, 0, false, false, false, true}},
	/* movq (%rdi),%rsp; xorl %eax,%eax; ret */
	{"loaded into the stack pointer", CODE("\x48\x8b\x27\x31\xc0\xc3"), 0, {~0ull, false, 0, false, false, false, true}},
	/* movq (%rdi),%rcx; movl $0,8(%rcx); xorl %eax,%eax; ret */
	{"stored to",
	 CODE("\x48\x8b\x0f\xc7\x41\x08\x00\x00\x00\x00\x31\xc0\xc3"),
	 0,
	 {~0ull, false, 0, false, true, false, false}},
};

static void test_read(void **state)
{
	struct code_bench *b = *state;
	const struct read_case *c = b->row;
	const struct wanted *wanted = &c->wanted;
	struct flow_read got;

	code_take(b, c->code, c->len, c->at);
	flow_read(b->flow, code_access(b), &got);
	if (got.used != wanted->used || got.written_back != wanted->written_back || got.deltas != wanted->deltas ||
	    got.tested != wanted->tested || got.dereferenced != wanted->dereferenced || got.shown ||
	    got.escapes != wanted->escapes)
		fail_msg("used %#jx, written back %d, steps %u, tested %d, dereferenced %d, shown %d, escapes %d",
			 (uintmax_t)got.used, got.written_back, got.deltas, got.tested, got.dereferenced, got.shown,
			 got.escapes);
}

/* ---- incl (%rdi); jmp .+0x60: to code of this function that was not kept, or to another function, which reads none ---- */

static const char count_and_leave[] = "\xff\x07\xeb\x60";

static void test_flags_that_leave_what_was_kept(void **state)
{
	struct code_bench *b = *state;
	struct flow_read got;

	code_take(b, CODE(count_and_leave), 0);
	flow_read(b->flow, 0, &got);
	assert_true(got.tested);
}

static void test_flags_at_a_jump_to_another_function(void **state)
{
	struct code_bench *b = *state;
	struct flow_read got;

	code_take(b, CODE(count_and_leave), 0);
	code_callee(b, 2, "fput");
	flow_read(b->flow, 0, &got);
	assert_false(got.tested);
	assert_false(got.escapes);
}

/* movl (%rdi),%eax, and then a jump to code of this function that was not kept, or ret */
static void test_register_that_leaves_what_was_kept(void **state)
{
	struct code_bench *b = *state;
	struct flow_read got;

	code_take(b, CODE("\x8b\x07\xeb\x60"), 0);
	flow_read(b->flow, 0, &got);
	assert_true(got.escapes);
	assert_true(got.only_left);
	code_take(b, CODE("\x8b\x07\x74\x60\xc3"), 0); /* je instead of jmp; ret */
	flow_read(b->flow, 0, &got);
	assert_true(got.escapes);
	assert_false(got.only_left);
}

int main(void)
{
	const struct CMUnitTest alone[] = {
		CODE_TEST(test_flags_that_leave_what_was_kept),
		CODE_TEST(test_register_that_leaves_what_was_kept),
		CODE_TEST(test_flags_at_a_jump_to_another_function),
	};
	struct CMUnitTest tests[ROWS(alone) + ROWS(read_cases)], *next = tests;

	for (size_t i = 0; i < ROWS(alone); i++)
		*next++ = alone[i];
	for (size_t i = 0; i < ROWS(read_cases); i++)
		*next++ = CODE_ROW(read_cases[i].text, test_read, &read_cases[i]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Values that code loads and passes to calls that print them, and where else such a value may go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_code.h"

enum { SHOWN = 1, ESCAPES = 2, TESTED = 4, DEREFERENCED = 8 };

/* How the code uses the value of its first load. Every call prints its arguments. */
struct shown_case {
	const char *text, *code;
	size_t len;
	unsigned wanted;
};

static const struct shown_case shown_cases[] = {
	/* movl (%rdi),%esi; call 1f; 1: xorl %eax,%eax; ret */
	{"argument", CODE("\x8b\x37\xe8\x00\x00\x00\x00\x31\xc0\xc3"), SHOWN},
	/* movl (%rdi),%eax; leal -1(%rax),%edx; xorl %eax,%eax; call 1f; 1: xorl %eax,%eax; ret */
	{"made of it", CODE("\x8b\x07\x8d\x50\xff\x31\xc0\xe8\x00\x00\x00\x00\x31\xc0\xc3"), SHOWN},
	/* pushq (%rdi); movl $1,%esi; call 1f; 1: popq %rdx; ret */
	{"pushed from memory", CODE("\xff\x37\xbe\x01\x00\x00\x00\xe8\x00\x00\x00\x00\x5a\xc3"), SHOWN},
	/* movq (%rdi),%rax; pushq %rax; pushq %rsi; xorl %eax,%eax; call 1f; 1: xorl %eax,%eax; ret */
	{"pushed", CODE("\x48\x8b\x07\x50\x56\x31\xc0\xe8\x00\x00\x00\x00\x31\xc0\xc3"), SHOWN},
	/* movl (%rdi),%ebx; movl %ebx,%esi; call 1f; 1: popq %rbx; xorl %eax,%eax; ret */
	{"lost by a pop", CODE("\x8b\x1f\x89\xde\xe8\x00\x00\x00\x00\x5b\x31\xc0\xc3"), SHOWN},
	/* movl (%rdi),%eax; pushq %rax; testl %esi,%esi; je 1f; call 1f; 1: xorl %eax,%eax; ret */
	{"pushed before a branch", CODE("\x8b\x07\x50\x85\xf6\x74\x05\xe8\x00\x00\x00\x00\x31\xc0\xc3"), ESCAPES},
	/* movl (%rdi),%eax; pushq %rax; movl (%rsp),%ecx; call 1f; 1: xorl %eax,%eax; ret */
	{"read back from the stack", CODE("\x8b\x07\x50\x8b\x0c\x24\xe8\x00\x00\x00\x00\x31\xc0\xc3"), ESCAPES},
	/* pushq (%rdi); ret */
	{"pushed for nothing", CODE("\xff\x37\xc3"), ESCAPES},
	/* movl (%rdi),%esi; testl %esi,%esi; je 1f; call 1f; 1: xorl %eax,%eax; xorl %esi,%esi; ret */
	{"tested too", CODE("\x8b\x37\x85\xf6\x74\x05\xe8\x00\x00\x00\x00\x31\xc0\x31\xf6\xc3"), SHOWN | TESTED},
	/* movl (%rdi),%esi; subl $1,%esi; js 1f; call 1f; 1: xorl %esi,%esi; xorl %eax,%eax; ret */
	{"branched on what is made", CODE("\x8b\x37\x83\xee\x01\x78\x05\xe8\x00\x00\x00\x00\x31\xf6\x31\xc0\xc3"),
	 SHOWN | TESTED},
	/* movl (%rdi),%ebx; movl %ebx,%esi; call 1f; 1: movl %ebx,(%rbp); xorl %ebx,%ebx; ret */
	{"stored too", CODE("\x8b\x1f\x89\xde\xe8\x00\x00\x00\x00\x89\x5d\x00\x31\xdb\xc3"), SHOWN | ESCAPES},
	/* movq (%rdi),%rsi; movq (%rsi),%rsi; call 1f; 1: xorl %eax,%eax; ret */
	{"gone through", CODE("\x48\x8b\x37\x48\x8b\x36\xe8\x00\x00\x00\x00\x31\xc0\xc3"), SHOWN | DEREFERENCED},
	/* movl (%rdi),%esi; movl %esi,%eax; ret */
	{"returned", CODE("\x8b\x37\x89\xf0\xc3"), ESCAPES},
	/* movl (%rdi),%esi; xorl %esi,%esi; call 1f; 1: xorl %eax,%eax; ret */
	{"dead", CODE("\x8b\x37\x31\xf6\xe8\x00\x00\x00\x00\x31\xc0\xc3"), 0},
	/* addl (%rdi),%esi; call 1f; 1: xorl %eax,%eax; ret */
	{"added up", CODE("\x03\x37\xe8\x00\x00\x00\x00\x31\xc0\xc3"), SHOWN},
	/* addl (%rdi),%esi; js 1f; call 1f; 1: xorl %esi,%esi; xorl %eax,%eax; ret */
	{"branched on the sum", CODE("\x03\x37\x78\x05\xe8\x00\x00\x00\x00\x31\xf6\x31\xc0\xc3"), SHOWN | TESTED},
	/* movl (%rdi),%eax; movl %eax,%esi; xorb %al,%al; movl %eax,(%r12); xorl %eax,%eax; call 1f; 1: xorl %eax,%eax; ret */
	{"cleared in part", CODE("\x8b\x07\x89\xc6\x30\xc0\x41\x89\x04\x24\x31\xc0\xe8\x00\x00\x00\x00\x31\xc0\xc3"),
	 SHOWN | ESCAPES},
	/* movl (%rdi),%eax; movl %eax,%esi; xorw %ax,%ax; movl %eax,(%r12); xorl %eax,%eax; call 1f; 1: xorl %eax,%eax; ret */
	{"16 bits cleared", CODE("\x8b\x07\x89\xc6\x66\x31\xc0\x41\x89\x04\x24\x31\xc0\xe8\x00\x00\x00\x00\x31\xc0\xc3"),
	 SHOWN | ESCAPES},
	/* movl (%rdi),%eax; movl %eax,%esi; xorb %ah,%al; movl %eax,(%r12); xorl %eax,%eax; call 1f; 1: xorl %eax,%eax; ret */
	{"two bytes of it", CODE("\x8b\x07\x89\xc6\x30\xe0\x41\x89\x04\x24\x31\xc0\xe8\x00\x00\x00\x00\x31\xc0\xc3"),
	 SHOWN | ESCAPES},
	/* movl (%rdi),%eax; movl %eax,%esi; shrl $33,%eax; movl %eax,(%r12); xorl %eax,%eax; call 1f; 1: xorl %eax,%eax; ret */
	{"shr by more than the CPU takes",
	 CODE("\x8b\x07\x89\xc6\xc1\xe8\x21\x41\x89\x04\x24\x31\xc0\xe8\x00\x00\x00\x00\x31\xc0\xc3"), SHOWN | ESCAPES},
	/* movl (%rdi),%eax; movl %eax,%esi; testl %ecx,%ecx; je 2f; shrl $16,%eax; jmp 3f; 2: movzbl %al,%eax; 3: andl
	   $0xff00,%eax; movl %eax,(%r12); xorl %eax,%eax; call 1f; 1: xorl %eax,%eax; ret */
	{"moved on one way",
	 CODE("\x8b\x07\x89\xc6\x85\xc9\x74\x05\xc1\xe8\x10\xeb\x03\x0f\xb6\xc0\x25\x00\xff\x00\x00\x41\x89\x04\x24\x31\xc0\xe8"
	      "\x00\x00\x00\x00\x31\xc0\xc3"),
	 SHOWN | ESCAPES},
	/* movl (%rdi),%eax; movl %eax,%esi; testl %ecx,%ecx; je 2f; movzbl %al,%eax; jmp 3f; 2: shrl $16,%eax; 3: andl
	   $0xff00,%eax; movl %eax,(%r12); xorl %eax,%eax; call 1f; 1: xorl %eax,%eax; ret */
	{"moved on the other way",
	 CODE("\x8b\x07\x89\xc6\x85\xc9\x74\x05\x0f\xb6\xc0\xeb\x03\xc1\xe8\x10\x25\x00\xff\x00\x00\x41\x89\x04\x24\x31\xc0\xe8"
	      "\x00\x00\x00\x00\x31\xc0\xc3"),
	 SHOWN | ESCAPES},
	/* movl (%rdi),%eax; movl %eax,%esi; testl %ecx,%ecx; je 2f; shrl $16,%eax; testq %r9,%r9; 3: andl $0xff00,%eax; movl
	   %eax,(%r12); xorl %eax,%eax; call 1f; 1: xorl %eax,%eax; ret; 2: movzbl %al,%eax; jmp 3b */
	{"moved, and then met",
	 CODE("\x8b\x07\x89\xc6\x85\xc9\x74\x19\xc1\xe8\x10\x4d\x85\xc9\x25\x00\xff\x00\x00\x41\x89\x04\x24\x31\xc0\xe8\x00\x00"
	      "\x00\x00\x31\xc0\xc3\x0f\xb6\xc0\xeb\xe8"),
	 SHOWN | ESCAPES},
	/* movl (%rdi),%ebx; testq %r12,%r12; je 3f; 4: movl %ebx,%esi; call 1f; 1: xorl %ebx,%ebx; xorl %eax,%eax; ret; 3: ud2;
	   movl %ebx,(%r13); jmp 4b */
	{"stored behind a warning",
	 CODE("\x8b\x1f\x4d\x85\xe4\x74\x0c\x89\xde\xe8\x00\x00\x00\x00\x31\xdb\x31\xc0\xc3\x0f\x0b\x41\x89\x5d\x00\xeb\xec"),
	 SHOWN | ESCAPES},
	/* movq (%rdi),%rax; pushq %rax; call 1f; 1: popq %rdx; movq %rdx,(%r12); xorl %edx,%edx; ret */
	{"popped and stored", CODE("\x48\x8b\x07\x50\xe8\x00\x00\x00\x00\x5a\x49\x89\x14\x24\x31\xd2\xc3"), SHOWN | ESCAPES},
	/* pushq (%rdi); call 1f; 1: popq %rdx; movq %rdx,(%r12); ret */
	{"pushed from memory, popped and stored", CODE("\xff\x37\xe8\x00\x00\x00\x00\x5a\x49\x89\x14\x24\xc3"),
	 SHOWN | ESCAPES},
	/* movq (%rdi),%rax; pushq %rax; call 1f; 1: popq %rax; ret */
	{"popped and returned", CODE("\x48\x8b\x07\x50\xe8\x00\x00\x00\x00\x58\xc3"), SHOWN | ESCAPES},
	/* movq (%rdi),%rbx; 2: popq %rdx; movq %rdx,(%r12); pushq %rbx; call 1f; 1: jmp 2b */
	{"popped on the next round", CODE("\x48\x8b\x1f\x5a\x49\x89\x14\x24\x53\xe8\x00\x00\x00\x00\xeb\xf3"), SHOWN | ESCAPES},
	/* movq (%rdi),%rax; pushq %rax; call 1f; 1: popq %rdx; popq %rbx; popq %rbp; xorl %eax,%eax; ret */
	{"popped by an epilogue", CODE("\x48\x8b\x07\x50\xe8\x00\x00\x00\x00\x5a\x5b\x5d\x31\xc0\xc3"), SHOWN},
	/* movl (%rdi),%ebx; movl %ebx,%esi; call 1f; 1: movl %ebx,%edx; xorl %ebx,%ebx; xorl %eax,%eax; ret */
	{"returned in RDX", CODE("\x8b\x1f\x89\xde\xe8\x00\x00\x00\x00\x89\xda\x31\xdb\x31\xc0\xc3"), SHOWN | ESCAPES},
	/* movq (%rdi),%rax; movl %eax,%esi; addq %rax,%rsp; xorl %eax,%eax; call 1f; 1: xorl %eax,%eax; ret */
	{"moves the stack", CODE("\x48\x8b\x07\x89\xc6\x48\x01\xc4\x31\xc0\xe8\x00\x00\x00\x00\x31\xc0\xc3"), SHOWN | ESCAPES},
	/* movq (%rdi),%rax; movl %eax,%esi; movq %rax,%rsp; xorl %eax,%eax; call 1f; 1: xorl %eax,%eax; ret */
	{"is the stack", CODE("\x48\x8b\x07\x89\xc6\x48\x89\xc4\x31\xc0\xe8\x00\x00\x00\x00\x31\xc0\xc3"), SHOWN | ESCAPES},
	/* movq (%rdi),%rax; movq %rax,%rsi; movl $1,8(%rax); xorl %eax,%eax; call 1f; 1: xorl %eax,%eax; ret */
	{"stored to", CODE("\x48\x8b\x07\x48\x89\xc6\xc7\x40\x08\x01\x00\x00\x00\x31\xc0\xe8\x00\x00\x00\x00\x31\xc0\xc3"),
	 SHOWN | DEREFERENCED},
	/* movl (%rdi),%ecx; movl %ecx,%edx; jrcxz 2f; movl $1,(%rsi); 2: call 1f; 1: xorl %eax,%eax; ret */
	{"jrcxz", CODE("\x8b\x0f\x89\xca\xe3\x06\xc7\x06\x01\x00\x00\x00\xe8\x00\x00\x00\x00\x31\xc0\xc3"), SHOWN | TESTED},
	/* movl (%rdi),%ecx; movl %ecx,%esi; 2: nop; loop 2b; call 1f; 1: xorl %eax,%eax; ret */
	{"loop", CODE("\x8b\x0f\x89\xce\x90\xe2\xfd\xe8\x00\x00\x00\x00\x31\xc0\xc3"), SHOWN | TESTED},
	/* movl (%rdi),%eax; movl %eax,%esi; subl %r8d,%eax; decl %ecx; jb 2f; movl $1,(%r12); 2: xorl %eax,%eax; call 1f; 1:
	   xorl %eax,%eax; ret */
	{"tested behind a dec",
	 CODE("\x8b\x07\x89\xc6\x44\x29\xc0\xff\xc9\x72\x08\x41\xc7\x04\x24\x01\x00\x00\x00\x31\xc0\xe8\x00\x00\x00\x00\x31\xc0"
	      "\xc3"),
	 SHOWN | TESTED},
	/* movl (%rdi),%eax; movl %eax,%esi; subl %r8d,%eax; btl $3,%ecx; je 2f; movl $1,(%r12); 2: xorl %eax,%eax; call 1f; 1:
	   xorl %eax,%eax; ret */
	{"tested behind a bt",
	 CODE("\x8b\x07\x89\xc6\x44\x29\xc0\x0f\xba\xe1\x03\x74\x08\x41\xc7\x04\x24\x01\x00\x00\x00\x31\xc0\xe8\x00\x00\x00\x00"
	      "\x31\xc0\xc3"),
	 SHOWN | TESTED},
	/* movl (%rdi),%eax; movl %eax,%esi; subl %r8d,%eax; shll %cl,%edx; je 2f; movl $1,(%r12); 2: xorl %eax,%eax; call 1f;
	   1: xorl %eax,%eax; ret */
	{"tested behind a shift by none",
	 CODE("\x8b\x07\x89\xc6\x44\x29\xc0\xd3\xe2\x74\x08\x41\xc7\x04\x24\x01\x00\x00\x00\x31\xc0\xe8\x00\x00\x00\x00\x31\xc0"
	      "\xc3"),
	 SHOWN | TESTED},
	/* movl (%rdi),%eax; movl %eax,%esi; addl $1,%eax; setc %cl; movb %cl,(%r12); xorl %eax,%eax; call 1f; 1: xorl
	   %eax,%eax; ret */
	{"its carry stored",
	 CODE("\x8b\x07\x89\xc6\x83\xc0\x01\x0f\x92\xc1\x41\x88\x0c\x24\x31\xc0\xe8\x00\x00\x00\x00\x31\xc0\xc3"),
	 SHOWN | TESTED},
	/* movl (%rdi),%ebx; andl $1,%esi; je 2f; movl %ebx,%esi; 2: call 1f; 1: xorl %ebx,%ebx; xorl %eax,%eax; ret */
	{"flags of something else", CODE("\x8b\x1f\x83\xe6\x01\x74\x02\x89\xde\xe8\x00\x00\x00\x00\x31\xdb\x31\xc0\xc3"),
	 SHOWN},
	/* movq (%rdi),%rsi; testl %edx,%edx; movq (%rsi),%rcx; je 2f; nop; 2: call 1f; 1: xorl %eax,%eax; ret */
	{"flags are not a load's", CODE("\x48\x8b\x37\x85\xd2\x48\x8b\x0e\x74\x01\x90\xe8\x00\x00\x00\x00\x31\xc0\xc3"),
	 SHOWN | DEREFERENCED},
	/* movl (%rdi),%eax; leaq 0x12345678(,%rax,8),%rdx; xorl %eax,%eax; call 1f; 1: xorl %eax,%eax; ret */
	{"an array's index", CODE("\x8b\x07\x48\x8d\x14\xc5\x78\x56\x34\x12\x31\xc0\xe8\x00\x00\x00\x00\x31\xc0\xc3"),
	 SHOWN | DEREFERENCED},
	/* movl (%rdi),%eax; leaq (%rbx,%rax,8),%rdx; xorl %eax,%eax; call 1f; 1: xorl %eax,%eax; ret */
	{"an index behind a pointer", CODE("\x8b\x07\x48\x8d\x14\xc3\x31\xc0\xe8\x00\x00\x00\x00\x31\xc0\xc3"),
	 SHOWN | DEREFERENCED},
	/* movq (%rdi),%rsi; leaq (%rsi,%rsi,4),%rsi; call 1f; 1: xorl %eax,%eax; ret */
	{"five times", CODE("\x48\x8b\x37\x48\x8d\x34\xb6\xe8\x00\x00\x00\x00\x31\xc0\xc3"), SHOWN},
	/* movl (%rdi),%eax; leaq 0(,%rax,8),%rdx; xorl %eax,%eax; call 1f; 1: xorl %eax,%eax; ret */
	{"eight times", CODE("\x8b\x07\x48\x8d\x14\xc5\x00\x00\x00\x00\x31\xc0\xe8\x00\x00\x00\x00\x31\xc0\xc3"), SHOWN},
	/* movl (%rdi),%eax; leal (%rbx,%rax),%edx; xorl %eax,%eax; call 1f; 1: xorl %eax,%eax; ret */
	{"a sum", CODE("\x8b\x07\x8d\x14\x03\x31\xc0\xe8\x00\x00\x00\x00\x31\xc0\xc3"), SHOWN},
};

/* The same, but only the first call prints its arguments. The second calls `callee`. */
static const struct called_case {
	struct shown_case c;
	const char *callee;
} called_cases[] = {
	/* movq (%rdi),%rbx; movq %rbx,%rsi; call 1f; 1: movq %rbx,%rax; call 2f; 2: xorl %ebx,%ebx; xorl %eax,%eax; ret */
	{{"called by a retpoline",
	  CODE("\x48\x8b\x1f\x48\x89\xde\xe8\x00\x00\x00\x00\x48\x89\xd8\xe8\x00\x00\x00\x00\x31\xdb\x31\xc0\xc3"),
	  SHOWN | ESCAPES},
	 "__x86_indirect_thunk_rax"},
	/* movl (%rdi),%ebx; movl %ebx,%esi; call 1f; 1: movl %ebx,%eax; movq %r12,%rcx; call 2f; 2: xorl %ebx,%ebx; xorl
	   %eax,%eax; ret */
	{{"stored for user space",
	  CODE("\x8b\x1f\x89\xde\xe8\x00\x00\x00\x00\x89\xd8\x4c\x89\xe1\xe8\x00\x00\x00\x00\x31\xdb\x31\xc0\xc3"),
	  SHOWN | ESCAPES},
	 "__put_user_4"},
	/* movl (%rdi),%ebx; movl %ebx,%esi; call 1f; 1: movl %ebx,%eax; movq %r12,%rcx; call 2f; 2: xorl %ebx,%ebx; xorl
	   %eax,%eax; ret */
	{{"in RAX at a call of C",
	  CODE("\x8b\x1f\x89\xde\xe8\x00\x00\x00\x00\x89\xd8\x4c\x89\xe1\xe8\x00\x00\x00\x00\x31\xdb\x31\xc0\xc3"), SHOWN},
	 "fput"},
	/* movq (%rdi),%rbx; movq %rbx,%rsi; call 1f; 1: call *%rbx; xorl %ebx,%ebx; xorl %eax,%eax; ret */
	{{"called", CODE("\x48\x8b\x1f\x48\x89\xde\xe8\x00\x00\x00\x00\xff\xd3\x31\xdb\x31\xc0\xc3"), SHOWN | ESCAPES}, "f"},
	/* movq (%rdi),%rbx; movq %rbx,%rsi; call 1f; 1: call *8(%rbx); xorl %ebx,%ebx; xorl %eax,%eax; ret */
	{{"called through", CODE("\x48\x8b\x1f\x48\x89\xde\xe8\x00\x00\x00\x00\xff\x53\x08\x31\xdb\x31\xc0\xc3"),
	  SHOWN | DEREFERENCED},
	 "f"},
};

/* Check how the code uses the value of its first load. */
static void expect(const struct code_bench *b, const struct shown_case *c)
{
	struct flow_read got;
	unsigned what;

	flow_read(b->flow, 0, &got);
	what = (got.shown ? SHOWN : 0) | (got.escapes ? ESCAPES : 0) | (got.tested ? TESTED : 0) |
	       (got.dereferenced ? DEREFERENCED : 0);
	if (what != c->wanted || got.written_back)
		fail_msg("shown %d, escapes %d, tested %d, dereferenced %d, written back %d", got.shown, got.escapes,
			 got.tested, got.dereferenced, got.written_back);
}

static void test_shown(void **state)
{
	struct code_bench *b = *state;
	const struct shown_case *c = b->row;

	code_take(b, c->code, c->len, 0);
	for (unsigned i = 0; i < b->code.count; i++)
		b->code.insns[i].shows = b->code.insns[i].op.kind == INSN_OP_CALL;
	expect(b, c);
}

static void test_called(void **state)
{
	struct code_bench *b = *state;
	const struct called_case *c = b->row;
	unsigned calls = 0;

	code_take(b, c->c.code, c->c.len, 0);
	for (unsigned i = 0; i < b->code.count; i++) {
		struct code_insn *insn = &b->code.insns[i];

		if (insn->op.kind != INSN_OP_CALL)
			continue;
		insn->shows = calls == 0;
		insn->callee = calls++ ? c->callee : NULL;
	}
	expect(b, &c->c);
}

int main(void)
{
	struct CMUnitTest tests[ROWS(shown_cases) + ROWS(called_cases)], *next = tests;

	for (size_t i = 0; i < ROWS(shown_cases); i++)
		*next++ = CODE_ROW(shown_cases[i].text, test_shown, &shown_cases[i]);
	for (size_t i = 0; i < ROWS(called_cases); i++)
		*next++ = CODE_ROW(called_cases[i].c.text, test_called, &called_cases[i]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

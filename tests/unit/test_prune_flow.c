// SPDX-License-Identifier: GPL-2.0-or-later
/* Values through code: which bits a store changes, which a load's reader looks at; and where that must not be believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "pruner/flow.h"

#define CODE_ADDR 0xffffffff81000000ull
#define CODE(bytes) (bytes), sizeof(bytes) - 1

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

struct read_case {
	const char *text, *code;
	size_t len;
	uint32_t at; /* of the load */
	struct flow_read wanted;
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

enum { SHOWN = 1, ESCAPES = 2, TESTED = 4, DEREFERENCED = 8 };

/* Of the load at the beginning; every call shows its arguments to people. */
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

/* The same, but only the first call shows anything; the second is one of `callee`. */
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

struct fixture {
	struct insn_decoder *decoder;
	struct code code;
	struct flow *flow;
	struct race_side side;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->decoder = insn_decoder_new();
	*state = f;
	return f->decoder ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	flow_free(f->flow);
	insn_decoder_free(f->decoder);
	free(f);
	return 0;
}

static void reload(struct fixture *f)
{
	code_load(&f->code, f->decoder, &f->side);
	flow_free(f->flow);
	f->flow = flow_new(&f->code);
	assert_non_null(f->flow);
}

static void load_at(struct fixture *f, uint64_t gva, const void *code, size_t len, uint32_t at)
{
	f->side = (struct race_side){.known = true, .pc = gva + at, .code_gva = gva, .code_len = (uint32_t)len};
	memcpy(f->side.code, code, len);
	f->side.symbol = (struct guest_symbol){.name = "f", .addr = gva, .size = len};
	reload(f);
}

/* The same code, of a function that goes on behind it; of what it jumps to at `from`, unless that is 0, the name is known. */
static void load_part(struct fixture *f, const void *code, size_t len, uint32_t at, uint16_t from, const char *callee)
{
	load_at(f, CODE_ADDR, code, len, at);
	f->side.symbol.size += 0x1000;
	f->side.callees[0].at = from;
	f->side.callee_count = from != 0;
	strcpy(f->side.callees[0].name, callee);
	reload(f);
}

static void load(struct fixture *f, const void *code, size_t len, uint32_t at)
{
	load_at(f, CODE_ADDR, code, len, at);
}

static void test_writes(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(write_cases) / sizeof(write_cases[0]); i++) {
		const struct write_case *c = &write_cases[i];
		struct flow_write got;

		load(f, c->code, c->len, c->at);
		assert_true(f->code.access >= 0);
		flow_write(f->flow, (unsigned)f->code.access, &got);
		if (got.merges != c->wanted.merges || got.changed != c->wanted.changed || got.steps != c->wanted.steps)
			fail_msg("%s: merges %d, changed %#jx, steps %u", c->text, got.merges, (uintmax_t)got.changed,
				 got.steps);
	}
}

static void test_constants(void **state)
{
	struct fixture *f = *state;
	struct flow_write got;

	load(f, CODE("\xc7\x07\x07\0\0\0"), 0); /* movl $7,(%rdi) */
	flow_write(f->flow, 0, &got);
	assert_true(got.constant);
	assert_int_equal(got.value, 7);
	load(f, CODE("\xb8\xff\xff\xff\xff\x88\x07"), 5); /* mov $-1,%eax; mov %al,(%rdi) */
	flow_write(f->flow, 1, &got);
	assert_true(got.constant);
	assert_int_equal(got.value, 0xff);
	/* mov $-1,%rax; shr $1,%eax; mov %eax,(%rdi): the upper half is not moved down */
	load(f, CODE("\x48\xc7\xc0\xff\xff\xff\xff\xd1\xe8\x89\x07"), 9);
	flow_write(f->flow, 2, &got);
	assert_true(got.constant);
	assert_int_equal(got.value, 0x7fffffff);
	/* mov $4,%eax; shr $33,%eax; mov %eax,(%rdi): by 1 */
	load(f, CODE("\xb8\x04\x00\x00\x00\xc1\xe8\x21\x89\x07"), 8);
	flow_write(f->flow, 2, &got);
	assert_true(got.constant);
	assert_int_equal(got.value, 2);
	load(f, CODE("\x89\x07"), 0); /* mov %eax,(%rdi) */
	flow_write(f->flow, 0, &got);
	assert_false(got.constant);
}

/* What leaves for a part of the function that was not kept may come back with anything in its registers. */
static void test_part_of_a_function(void **state)
{
	/* je ret; je outside; xorl %eax,%eax; subl %eax,(%rdi); ret */
	static const char zero[] = "\x74\x0a\x0f\x84\x00\x02\x00\x00\x31\xc0\x29\x07\xc3";
	/* movl (%rdi),%eax; je outside; orl $1,%eax; movl %eax,(%rdi); ret */
	static const char merge[] = "\x8b\x07\x0f\x84\x00\x02\x00\x00\x83\xc8\x01\x89\x07\xc3";
	struct fixture *f = *state;
	struct flow_write got;

	load(f, CODE("\x74\x04\x31\xc0\x29\x07\xc3"), 4);
	flow_write(f->flow, (unsigned)f->code.access, &got);
	assert_true(f->code.closed && got.merges && !got.changed);
	load_part(f, CODE(zero), 10, 0, "");
	flow_write(f->flow, (unsigned)f->code.access, &got);
	assert_true(!f->code.closed && got.merges && got.changed == 0xffffffff && got.steps & FLOW_ELSE);
	load_part(f, CODE(merge), 11, 0, "");
	flow_write(f->flow, (unsigned)f->code.access, &got);
	assert_true(!f->code.closed && got.merges && got.changed == 0xffffffff);
	/* The cold part of a function is another to the linker. */
	load(f, CODE(zero), 10);
	assert_false(f->code.closed);
	/* An immediate is what it is. */
	load_part(f, CODE("\x0f\x84\x00\x02\x00\x00\x83\x0f\x04\xc3"), 6, 0, "");
	flow_write(f->flow, (unsigned)f->code.access, &got);
	assert_true(!f->code.closed && got.merges && got.changed == 4);
}

static void test_ways_out_of_a_function(void **state)
{
	static const char jump[] = "\x31\xc0\x29\x07\xe9\x00\x20\x00\x00";
	struct fixture *f = *state;

	/* subl %eax,(%rdi); ret */
	load_part(f, CODE("\x29\x07\xc3"), 0, 0, "");
	assert_true(f->code.closed);
	/* A call of another function that comes back elsewhere, unless it is the cold part, or who knows what. */
	load_part(f, CODE(jump), 2, 4, "other");
	assert_true(f->code.closed);
	load_part(f, CODE(jump), 2, 4, "f.cold");
	assert_false(f->code.closed);
	load_part(f, CODE(jump), 2, 0, "");
	assert_false(f->code.closed);
	/* On behind what was kept; */
	load_part(f, CODE("\x31\xc0\x29\x07"), 2, 0, "");
	assert_false(f->code.closed);
	load(f, CODE("\x31\xc0\x29\x07"), 2);
	assert_true(f->code.closed);
	f->side.symbol.size = 0;
	code_load(&f->code, f->decoder, &f->side);
	assert_false(f->code.closed);
	/* through a table: jmp *(%rax); */
	load(f, CODE("\x29\x07\xff\x20"), 0);
	assert_false(f->code.closed);
	/* from before what was kept. */
	load(f, CODE("\x29\x07\xc3"), 0);
	f->side.symbol.addr -= 16;
	f->side.symbol.size += 16;
	code_load(&f->code, f->decoder, &f->side);
	assert_false(f->code.closed);
}

static void test_reads(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(read_cases) / sizeof(read_cases[0]); i++) {
		const struct read_case *c = &read_cases[i];
		const struct flow_read *wanted = &c->wanted;
		struct flow_read got;

		load(f, c->code, c->len, c->at);
		assert_true(f->code.access >= 0);
		flow_read(f->flow, (unsigned)f->code.access, &got);
		if (got.used != wanted->used || got.written_back != wanted->written_back || got.steps != wanted->steps ||
		    got.tested != wanted->tested || got.dereferenced != wanted->dereferenced || got.shown ||
		    got.escapes != wanted->escapes)
			fail_msg("%s: used %#jx, written back %d, steps %u, tested %d, dereferenced %d, shown %d, escapes %d",
				 c->text, (uintmax_t)got.used, got.written_back, got.steps, got.tested, got.dereferenced,
				 got.shown, got.escapes);
	}
}

static void check_shown(const struct fixture *f, const struct shown_case *c)
{
	struct flow_read got;
	unsigned what;

	flow_read(f->flow, 0, &got);
	what = (got.shown ? SHOWN : 0) | (got.escapes ? ESCAPES : 0) | (got.tested ? TESTED : 0) |
	       (got.dereferenced ? DEREFERENCED : 0);
	if (what != c->wanted || got.written_back)
		fail_msg("%s: shown %d, escapes %d, tested %d, dereferenced %d, written back %d", c->text, got.shown,
			 got.escapes, got.tested, got.dereferenced, got.written_back);
}

static void test_shown(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(shown_cases) / sizeof(shown_cases[0]); i++) {
		load(f, shown_cases[i].code, shown_cases[i].len, 0);
		for (unsigned j = 0; j < f->code.count; j++)
			f->code.insns[j].shows = f->code.insns[j].op.kind == INSN_OP_CALL;
		check_shown(f, &shown_cases[i]);
	}
}

static void test_called(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(called_cases) / sizeof(called_cases[0]); i++) {
		const struct called_case *c = &called_cases[i];
		unsigned calls = 0;

		load(f, c->c.code, c->c.len, 0);
		for (unsigned j = 0; j < f->code.count; j++) {
			struct code_insn *insn = &f->code.insns[j];

			if (insn->op.kind != INSN_OP_CALL)
				continue;
			insn->shows = calls == 0;
			insn->callee = calls++ ? c->callee : NULL;
		}
		check_shown(f, &c->c);
	}
}

/* incl (%rdi); jmp .+0x60: to another function, which finds no flags; or to a part of this one that was not kept. */
static void test_flags_at_the_end(void **state)
{
	struct fixture *f = *state;
	struct flow_read got;

	load(f, CODE("\xff\x07\xeb\x60"), 0);
	flow_read(f->flow, 0, &got);
	assert_true(got.tested);
	f->code.insns[1].callee = "fput";
	flow_read(f->flow, 0, &got);
	assert_false(got.tested);
	assert_false(got.escapes);
}

/* An old run kept bytes from anywhere on; decoding falls into step before it gets to the access. */
static void test_code_that_starts_anywhere(void **state)
{
	struct fixture *f = *state;
	/* The last bytes of movabs $...,%rax; then nop; mov %eax,(%rdi); ret */
	static const char code[] = "\xff\xff\x48\xb8\x90\x90\x90\x90\x90\x90\x90\x89\x07\xc3";

	load(f, code, sizeof(code) - 1, 11);
	assert_true(f->code.access >= 0);
	assert_int_equal(f->code.insns[f->code.access].op.insn.addr, CODE_ADDR + 11);
}

/* A report may say any address of its code. mov 0x7fffffff(%rip),%eax; mov %eax,0x7ffffff9(%rip): the same place. */
static void test_code_that_is_anywhere(void **state)
{
	static const uint64_t gvas[] = {CODE_ADDR, INT64_MAX - 8, UINT64_MAX - 8};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(gvas) / sizeof(gvas[0]); i++) {
		load_at(f, gvas[i], CODE("\x8b\x05\xff\xff\xff\x7f\x89\x05\xf9\xff\xff\x7f"), 6);
		assert_true(flow_same_place(f->flow, 0, 1));
	}
}

/* mov %eax,(%rdi); ud2; nop: a BUG() where the function ends there, and what WARN_ON() may go on behind where it does not. */
static void test_ud2(void **state)
{
	struct fixture *f = *state;
	int next[2];

	load(f, CODE("\x89\x07\x0f\x0b\x90"), 0);
	assert_int_equal(code_next(&f->code, 1, next), 0);
	f->side.symbol.size++;
	code_load(&f->code, f->decoder, &f->side);
	assert_int_equal(code_next(&f->code, 1, next), 1);
	assert_int_equal(next[0], 2);
}

static void test_access_that_is_no_instruction(void **state)
{
	struct fixture *f = *state;

	load(f, CODE("\x06\x06\x06"), 1);
	assert_int_equal(f->code.access, -1);
	load(f, CODE(""), 0);
	assert_int_equal(f->code.count, 0);
}

/* Any bytes at all: it comes to an end, and stays within its memory (the sanitizers look). */
static void test_any_bytes(void **state)
{
	struct fixture *f = *state;
	struct rng rng = {7};
	uint8_t bytes[RACE_CODE_MAX];

	for (int round = 0; round < 300; round++) {
		size_t len = 1 + rng_below(&rng, sizeof(bytes));

		for (size_t i = 0; i < len; i++)
			bytes[i] = (uint8_t)rng_below(&rng, 256);
		/* Branches back and forth, loads and stores. */
		for (size_t i = 0; i + 4 < len && round & 1; i += 4)
			memcpy(bytes + i, rng_below(&rng, 2) ? "\x75\xf0\x8b\x07" : "\x89\x07\x74\x08", 4);
		load(f, bytes, len, 0);
		for (unsigned i = 0; i < f->code.count; i++) {
			struct flow_write write;
			struct flow_read read;

			flow_write(f->flow, i, &write);
			flow_read(f->flow, i, &read);
			flow_same_place(f->flow, i, 0);
		}
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_writes),
		T(test_constants),
		T(test_part_of_a_function),
		T(test_ways_out_of_a_function),
		T(test_reads),
		T(test_shown),
		T(test_called),
		T(test_flags_at_the_end),
		T(test_code_that_starts_anywhere),
		T(test_code_that_is_anywhere),
		T(test_ud2),
		T(test_access_that_is_no_instruction),
		T(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

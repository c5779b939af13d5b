/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions as GNU as encodes them, with their memory accesses by SDM vol. 2. The cases were written by hand, independently
 * of Capstone and of symbols/insn_table.c.
 */
#ifndef OUTRIDER_TESTS_UNIT_TEST_SYM_INSN_CASES_H
#define OUTRIDER_TESTS_UNIT_TEST_SYM_INSN_CASES_H

#include "symbols/insn/insn.h"

struct insn_case {
	const char *text;
	const char *code;
	unsigned len;
	uint16_t flags;
	uint32_t regs_written; /* ANY: the test does not check it */
	uint8_t nmem;
	struct insn_mem mem[INSN_MAX_MEM];
};

#define ANY (1u << 31)
#define BIT(n) (1u << (n))
#define CODE(bytes) bytes, sizeof(bytes) - 1
#define R INSN_READ
#define W INSN_WRITE
#define RW (INSN_READ | INSN_WRITE)
#define MEM(access, bytes, reg, d)                                                                      \
	{                                                                                               \
		.rw = access, .size = bytes, .base = reg, .disp = d, .index = INSN_REG_NONE, .scale = 1 \
	}

#define FULL(access, bytes, reg, d, idx, sc, sg, a32)                                                                    \
	{                                                                                                                \
		.rw = access, .size = bytes, .base = reg, .disp = d, .index = idx, .scale = sc, .seg = sg, .addr32 = a32 \
	}

/* clang-format off */
static const struct insn_case insn_cases[] = {
	{"mov [rax], ecx", CODE("\x89\x08"), 0, 0, 1, {MEM(W, 4, X86_RAX, 0)}},
	{"mov ecx, [rax+8]", CODE("\x8b\x48\x08"), 0, BIT(X86_RCX), 1, {MEM(R, 4, X86_RAX, 8)}},
	{"mov rbx, [rbx]", CODE("\x48\x8b\x1b"), 0, BIT(X86_RBX), 1, {MEM(R, 8, X86_RBX, 0)}},
	{"mov byte ptr [r13+rcx*4-16], 5", CODE("\x41\xc6\x44\x8d\xf0\x05"),
	 0, 0, 1, {FULL(W, 1, 13, -16, X86_RCX, 4, 0, false)}},
	{"movzx eax, word ptr [rip+0x1234]", CODE("\x0f\xb7\x05\x34\x12\x00\x00"),
	 INSN_RIP_REL, BIT(X86_RAX), 1, {MEM(R, 2, INSN_REG_RIP, 0x1234)}},
	{"movabs al, [0x1122334455667788]", CODE("\xa0\x88\x77\x66\x55\x44\x33\x22\x11"),
	 0, BIT(X86_RAX), 1, {MEM(R, 1, INSN_REG_NONE, 0x1122334455667788)}},
	{"add [rax], ecx", CODE("\x01\x08"), 0, 0, 1, {MEM(RW, 4, X86_RAX, 0)}},
	{"add ecx, [rax]", CODE("\x03\x08"), 0, BIT(X86_RCX), 1, {MEM(R, 4, X86_RAX, 0)}},
	{"adc qword ptr [rax], 1", CODE("\x48\x83\x10\x01"), 0, 0, 1, {MEM(RW, 8, X86_RAX, 0)}},
	{"sbb [rax], rdx", CODE("\x48\x19\x10"), 0, 0, 1, {MEM(RW, 8, X86_RAX, 0)}},
	{"and dword ptr [rax], 0xfe", CODE("\x81\x20\xfe\x00\x00\x00"), 0, 0, 1, {MEM(RW, 4, X86_RAX, 0)}},
	{"cmp [rax], rcx", CODE("\x48\x39\x08"), 0, 0, 1, {MEM(R, 8, X86_RAX, 0)}},
	{"cmp rcx, [rax]", CODE("\x48\x3b\x08"), 0, 0, 1, {MEM(R, 8, X86_RAX, 0)}},
	{"test byte ptr [rax+5], 1", CODE("\xf6\x40\x05\x01"), 0, 0, 1, {MEM(R, 1, X86_RAX, 5)}},
	{"inc word ptr [rax]", CODE("\x66\xff\x00"), 0, 0, 1, {MEM(RW, 2, X86_RAX, 0)}},
	{"lock inc dword ptr [rax]", CODE("\xf0\xff\x00"), INSN_LOCKED, 0, 1, {MEM(RW, 4, X86_RAX, 0)}},
	{"neg qword ptr [rax]", CODE("\x48\xf7\x18"), 0, 0, 1, {MEM(RW, 8, X86_RAX, 0)}},
	{"not byte ptr [rax]", CODE("\xf6\x10"), 0, 0, 1, {MEM(RW, 1, X86_RAX, 0)}},
	{"shl dword ptr [rax], 3", CODE("\xc1\x20\x03"), 0, 0, 1, {MEM(RW, 4, X86_RAX, 0)}},
	{"shld [rax], ecx, 3", CODE("\x0f\xa4\x08\x03"), 0, 0, 1, {MEM(RW, 4, X86_RAX, 0)}},
	{"shrd [rax], rcx, cl", CODE("\x48\x0f\xad\x08"), 0, 0, 1, {MEM(RW, 8, X86_RAX, 0)}},
	{"cmove ecx, [rax]", CODE("\x0f\x44\x08"), 0, BIT(X86_RCX), 1, {MEM(R, 4, X86_RAX, 0)}},
	{"sete [rax]", CODE("\x0f\x94\x00"), 0, 0, 1, {MEM(W, 1, X86_RAX, 0)}},
	{"xadd [rax], ecx", CODE("\x0f\xc1\x08"), 0, BIT(X86_RCX), 1, {MEM(RW, 4, X86_RAX, 0)}},
	{"lock xadd [rax], rcx", CODE("\xf0\x48\x0f\xc1\x08"), INSN_LOCKED, BIT(X86_RCX), 1, {MEM(RW, 8, X86_RAX, 0)}},
	{"xchg [rax], ecx", CODE("\x87\x08"), INSN_LOCKED, BIT(X86_RCX), 1, {MEM(RW, 4, X86_RAX, 0)}},
	{"xchg ecx, ebx", CODE("\x87\xd9"), 0, BIT(X86_RCX) | BIT(X86_RBX), 0, {}},
	{"cmpxchg [rdx], rcx", CODE("\x48\x0f\xb1\x0a"), 0, BIT(X86_RAX), 1, {MEM(RW, 8, X86_RDX, 0)}},
	{"lock cmpxchg [rdx], ecx", CODE("\xf0\x0f\xb1\x0a"), INSN_LOCKED, BIT(X86_RAX), 1, {MEM(RW, 4, X86_RDX, 0)}},
	{"lock cmpxchg16b [rsi]", CODE("\xf0\x48\x0f\xc7\x0e"),
	 INSN_LOCKED, BIT(X86_RAX) | BIT(X86_RDX), 1, {MEM(RW, 16, X86_RSI, 0)}},
	{"cmpxchg8b [rsi]", CODE("\x0f\xc7\x0e"), 0, BIT(X86_RAX) | BIT(X86_RDX), 1, {MEM(RW, 8, X86_RSI, 0)}},
	{"bt dword ptr [rax], 7", CODE("\x0f\xba\x20\x07"), 0, 0, 1, {MEM(R, 4, X86_RAX, 0)}},
	{"bts qword ptr [rax], 7", CODE("\x48\x0f\xba\x28\x07"), 0, 0, 1, {MEM(RW, 8, X86_RAX, 0)}},
	{"lock btr dword ptr [rax], 1", CODE("\xf0\x0f\xba\x30\x01"), INSN_LOCKED, 0, 1, {MEM(RW, 4, X86_RAX, 0)}},
	{"bt [rax], rcx", CODE("\x48\x0f\xa3\x08"), INSN_INDIRECT, 0, 1, {MEM(R, 8, X86_RAX, 0)}},
	{"lock bts [rax], rcx", CODE("\xf0\x48\x0f\xab\x08"), INSN_LOCKED | INSN_INDIRECT, 0, 1, {MEM(RW, 8, X86_RAX, 0)}},
	{"bt ecx, ebx", CODE("\x0f\xa3\xd9"), 0, 0, 0, {}},
	{"mul qword ptr [rbx]", CODE("\x48\xf7\x23"), 0, BIT(X86_RAX) | BIT(X86_RDX), 1, {MEM(R, 8, X86_RBX, 0)}},
	{"imul ecx, [rbx], 12", CODE("\x6b\x0b\x0c"), 0, BIT(X86_RCX), 1, {MEM(R, 4, X86_RBX, 0)}},
	{"div dword ptr [rbx]", CODE("\xf7\x33"), 0, BIT(X86_RAX) | BIT(X86_RDX), 1, {MEM(R, 4, X86_RBX, 0)}},
	{"popcnt rcx, [rax]", CODE("\xf3\x48\x0f\xb8\x08"), 0, BIT(X86_RCX), 1, {MEM(R, 8, X86_RAX, 0)}},
	{"movnti [rax], rcx", CODE("\x48\x0f\xc3\x08"), 0, 0, 1, {MEM(W, 8, X86_RAX, 0)}},
	{"movbe [rax], ecx", CODE("\x0f\x38\xf1\x08"), 0, 0, 1, {MEM(W, 4, X86_RAX, 0)}},
	{"movbe ecx, [rax]", CODE("\x0f\x38\xf0\x08"), 0, BIT(X86_RCX), 1, {MEM(R, 4, X86_RAX, 0)}},
	{"crc32 ecx, byte ptr [rax]", CODE("\xf2\x0f\x38\xf0\x08"), 0, BIT(X86_RCX), 1, {MEM(R, 1, X86_RAX, 0)}},
	{"push qword ptr [rax]", CODE("\xff\x30"), 0, BIT(X86_RSP), 1, {MEM(R, 8, X86_RAX, 0)}},
	{"push qword ptr [rsp+8]", CODE("\xff\x74\x24\x08"), INSN_STACK, BIT(X86_RSP), 1, {MEM(R, 8, X86_RSP, 8)}},
	{"push rax", CODE("\x50"), INSN_STACK, BIT(X86_RSP), 0, {}},
	{"pop qword ptr [rax]", CODE("\x8f\x00"), 0, BIT(X86_RSP), 1, {MEM(W, 8, X86_RAX, 0)}},
	{"pop rcx", CODE("\x59"), INSN_STACK, BIT(X86_RSP) | BIT(X86_RCX), 0, {}},
	{"leave", CODE("\xc9"), INSN_STACK, BIT(X86_RSP) | BIT(X86_RBP), 0, {}},
	{"mov [rsp+0x10], rax", CODE("\x48\x89\x44\x24\x10"), INSN_STACK, 0, 1, {MEM(W, 8, X86_RSP, 16)}},
	{"mov eax, gs:[rip+0x100]", CODE("\x65\x8b\x05\x00\x01\x00\x00"),
	 INSN_GS | INSN_RIP_REL, BIT(X86_RAX), 1, {FULL(R, 4, INSN_REG_RIP, 0x100, INSN_REG_NONE, 1, INSN_GS, false)}},
	{"mov rax, gs:[0x28]", CODE("\x65\x48\x8b\x04\x25\x28\x00\x00\x00"),
	 INSN_GS, BIT(X86_RAX), 1, {FULL(R, 8, INSN_REG_NONE, 40, INSN_REG_NONE, 1, INSN_GS, false)}},
	{"inc dword ptr fs:[rax]", CODE("\x64\xff\x00"),
	 INSN_FS, 0, 1, {FULL(RW, 4, X86_RAX, 0, INSN_REG_NONE, 1, INSN_FS, false)}},
	{"mov eax, [ebx]", CODE("\x67\x8b\x03"), 0, BIT(X86_RAX), 1, {FULL(R, 4, X86_RBX, 0, INSN_REG_NONE, 1, 0, true)}},
	{"ds lock inc dword ptr [rax]", CODE("\x3e\xf0\xff\x00"), INSN_LOCKED | INSN_DS_PREFIX, 0, 1, {MEM(RW, 4, X86_RAX, 0)}},
	{"ds add dword ptr [rax], 1", CODE("\x3e\x83\x00\x01"), INSN_DS_PREFIX, 0, 1, {MEM(RW, 4, X86_RAX, 0)}},
	{"lea rcx, [rax+8]", CODE("\x48\x8d\x48\x08"), INSN_NO_ACCESS, BIT(X86_RCX), 0, {}},
	{"nop dword ptr [rax+rax]", CODE("\x0f\x1f\x04\x00"), INSN_NO_ACCESS, ANY, 0, {}},
	{"nop", CODE("\x90"), 0, ANY, 0, {}},
	{"prefetcht0 [rax]", CODE("\x0f\x18\x08"), INSN_NO_ACCESS, 0, 0, {}},
	{"prefetchw [rax]", CODE("\x0f\x0d\x08"), INSN_NO_ACCESS, 0, 0, {}},
	{"prefetchnta [rax]", CODE("\x0f\x18\x00"), INSN_NO_ACCESS, 0, 0, {}},
	{"clflush [rax]", CODE("\x0f\xae\x38"), INSN_NO_ACCESS, 0, 0, {}},
	{"clflushopt [rax]", CODE("\x66\x0f\xae\x38"), INSN_NO_ACCESS, 0, 0, {}},
	{"clwb [rax]", CODE("\x66\x0f\xae\x30"), INSN_NO_ACCESS, 0, 0, {}},
	{"invlpg [rax]", CODE("\x0f\x01\x38"), INSN_NO_ACCESS, 0, 0, {}},
	{"call qword ptr [rax+8]", CODE("\xff\x50\x08"), INSN_BRANCH | INSN_CALL, BIT(X86_RSP), 1, {MEM(R, 8, X86_RAX, 8)}},
	{"jmp qword ptr [rax*8+0x100]", CODE("\xff\x24\xc5\x00\x01\x00\x00"),
	 INSN_BRANCH, 0, 1, {FULL(R, 8, INSN_REG_NONE, 0x100, X86_RAX, 8, 0, false)}},
	{"call rax", CODE("\xff\xd0"), INSN_BRANCH | INSN_CALL | INSN_STACK, BIT(X86_RSP), 0, {}},
	{"ret", CODE("\xc3"), INSN_BRANCH | INSN_RET | INSN_STACK, BIT(X86_RSP), 0, {}},
	{"iretq", CODE("\x48\xcf"), INSN_BRANCH | INSN_RET | INSN_STACK, ANY, 0, {}},
	{"je .+4", CODE("\x74\x02"), INSN_BRANCH, 0, 0, {}},
	{"jmp .+100", CODE("\xeb\x62"), INSN_BRANCH, 0, 0, {}},
	{"syscall", CODE("\x0f\x05"), INSN_BRANCH, ANY, 0, {}},
	{"int3", CODE("\xcc"), INSN_INT3 | INSN_BRANCH, 0, 0, {}},
	{"ud2", CODE("\x0f\x0b"), INSN_BRANCH, 0, 0, {}},
	{"ud1 eax, [rcx+4]", CODE("\x0f\xb9\x41\x04"), INSN_BRANCH | INSN_NO_ACCESS, 0, 0, {}},
	{"udb", CODE("\xd6"), INSN_BRANCH, 0, 0, {}},
	{"movsb", CODE("\xa4"), INSN_STRING, BIT(X86_RSI) | BIT(X86_RDI), 2, {MEM(R, 1, X86_RSI, 0), MEM(W, 1, X86_RDI, 0)}},
	{"rep movsq", CODE("\xf3\x48\xa5"),
	 INSN_STRING | INSN_REP, BIT(X86_RSI) | BIT(X86_RDI) | BIT(X86_RCX), 2, {MEM(R, 8, X86_RSI, 0), MEM(W, 8, X86_RDI, 0)}},
	{"rep stosd", CODE("\xf3\xab"), INSN_STRING | INSN_REP, BIT(X86_RDI) | BIT(X86_RCX), 1, {MEM(W, 4, X86_RDI, 0)}},
	{"stosw", CODE("\x66\xab"), INSN_STRING, BIT(X86_RDI), 1, {MEM(W, 2, X86_RDI, 0)}},
	{"lodsq", CODE("\x48\xad"), INSN_STRING, BIT(X86_RSI) | BIT(X86_RAX), 1, {MEM(R, 8, X86_RSI, 0)}},
	{"repe cmpsb", CODE("\xf3\xa6"),
	 INSN_STRING | INSN_REP, BIT(X86_RSI) | BIT(X86_RDI) | BIT(X86_RCX), 2, {MEM(R, 1, X86_RSI, 0), MEM(R, 1, X86_RDI, 0)}},
	{"repne scasb", CODE("\xf2\xae"), INSN_STRING | INSN_REP, BIT(X86_RDI) | BIT(X86_RCX), 1, {MEM(R, 1, X86_RDI, 0)}},
	{"gs lodsb", CODE("\x65\xac"),
	 INSN_STRING | INSN_GS, BIT(X86_RSI) | BIT(X86_RAX), 1, {FULL(R, 1, X86_RSI, 0, INSN_REG_NONE, 1, INSN_GS, false)}},
	{"rep insd", CODE("\xf3\x6d"),
	 INSN_STRING | INSN_REP | INSN_PORT_IO, BIT(X86_RDI) | BIT(X86_RCX), 1, {MEM(W, 4, X86_RDI, 0)}},
	{"outsb", CODE("\x6e"), INSN_STRING | INSN_PORT_IO, BIT(X86_RSI), 1, {MEM(R, 1, X86_RSI, 0)}},
	{"movups [rax], xmm1", CODE("\x0f\x11\x08"), 0, 0, 1, {MEM(W, 16, X86_RAX, 0)}},
	{"movdqu xmm1, [rax]", CODE("\xf3\x0f\x6f\x08"), 0, 0, 1, {MEM(R, 16, X86_RAX, 0)}},
	{"movq [rax], xmm1", CODE("\x66\x0f\xd6\x08"), 0, 0, 1, {MEM(W, 8, X86_RAX, 0)}},
	{"movd xmm1, dword ptr [rax]", CODE("\x66\x0f\x6e\x08"), 0, 0, 1, {MEM(R, 4, X86_RAX, 0)}},
	{"movntdq [rax], xmm1", CODE("\x66\x0f\xe7\x08"), 0, 0, 1, {MEM(W, 16, X86_RAX, 0)}},
	{"movsd qword ptr [rax], xmm1", CODE("\xf2\x0f\x11\x08"), 0, 0, 1, {MEM(W, 8, X86_RAX, 0)}},
	{"paddd xmm1, [rax]", CODE("\x66\x0f\xfe\x08"), 0, 0, 1, {MEM(R, 16, X86_RAX, 0)}},
	{"pextrq [rax], xmm1, 1", CODE("\x66\x48\x0f\x3a\x16\x08\x01"), 0, 0, 1, {MEM(W, 8, X86_RAX, 0)}},
	{"vmovdqa [rax], ymm1", CODE("\xc5\xfd\x7f\x08"), 0, 0, 1, {MEM(W, 32, X86_RAX, 0)}},
	{"vmovdqu ymm1, [rax]", CODE("\xc5\xfe\x6f\x08"), 0, 0, 1, {MEM(R, 32, X86_RAX, 0)}},
	{"vpxor ymm1, ymm2, [rax]", CODE("\xc5\xed\xef\x08"), 0, 0, 1, {MEM(R, 32, X86_RAX, 0)}},
	{"vextracti128 [rax], ymm1, 1", CODE("\xc4\xe3\x7d\x39\x08\x01"), 0, 0, 1, {MEM(W, 16, X86_RAX, 0)}},
	{"vpgatherdd xmm1, [rax+xmm2*4], xmm3", CODE("\xc4\xe2\x61\x90\x0c\x90"), INSN_INDIRECT, 0, 0, {}},
	{"vpmaskmovd [rax], ymm1, ymm2", CODE("\xc4\xe2\x75\x8e\x10"), INSN_INDIRECT, 0, 0, {}},
	{"vmovdqu64 zmm1, [rax]", CODE("\x62\xf1\xfe\x48\x6f\x08"), INSN_INDIRECT, 0, 0, {}},
	{"xsave64 [rax]", CODE("\x48\x0f\xae\x20"), INSN_INDIRECT, 0, 0, {}},
	{"xrstors64 [rax]", CODE("\x48\x0f\xc7\x18"), INSN_INDIRECT, 0, 0, {}},
	{"fxsave [rax]", CODE("\x0f\xae\x00"), INSN_INDIRECT, 0, 0, {}},
	{"xlatb", CODE("\xd7"), INSN_INDIRECT, ANY, 0, {}},
	{"enter 16, 0", CODE("\xc8\x10\x00\x00"), INSN_INDIRECT | INSN_STACK, ANY, 0, {}},
	{"fnstcw [rax]", CODE("\xd9\x38"), 0, 0, 1, {MEM(W, 2, X86_RAX, 0)}},
	{"fldcw [rax]", CODE("\xd9\x28"), 0, 0, 1, {MEM(R, 2, X86_RAX, 0)}},
	{"fnstsw [rax]", CODE("\xdd\x38"), 0, 0, 1, {MEM(W, 2, X86_RAX, 0)}},
	{"ldmxcsr [rax]", CODE("\x0f\xae\x10"), 0, 0, 1, {MEM(R, 4, X86_RAX, 0)}},
	{"stmxcsr [rax]", CODE("\x0f\xae\x18"), 0, 0, 1, {MEM(W, 4, X86_RAX, 0)}},
	{"invpcid rax, [rcx]", CODE("\x66\x0f\x38\x82\x01"), 0, 0, 1, {MEM(R, 16, X86_RCX, 0)}},
	{"lgdt [rax]", CODE("\x0f\x01\x10"), 0, 0, 1, {MEM(R, 10, X86_RAX, 0)}},
	{"sgdt [rax]", CODE("\x0f\x01\x00"), 0, 0, 1, {MEM(W, 10, X86_RAX, 0)}},
	{"verw word ptr [rip+0x10]", CODE("\x0f\x00\x2d\x10\x00\x00\x00"), INSN_RIP_REL, 0, 1, {MEM(R, 2, INSN_REG_RIP, 16)}},
	{"mulx rcx, rbx, [rax]", CODE("\xc4\xe2\xe3\xf6\x08"), 0, BIT(X86_RCX) | BIT(X86_RBX), 1, {MEM(R, 8, X86_RAX, 0)}},
	{"serialize", CODE("\x0f\x01\xe8"), 0, ANY, 0, {}},
	{"wrpkru", CODE("\x0f\x01\xef"), 0, ANY, 0, {}},
	{"enqcmds rcx, [rax]", CODE("\xf3\x0f\x38\xf8\x08"), INSN_INDIRECT, ANY, 0, {}},
	{"vprord xmm1, xmm1, 7", CODE("\x62\xf1\x75\x08\x72\xc1\x07"), 0, ANY, 0, {}},
	{"vpternlogd zmm1, zmm2, [rax+0x40], 0x96", CODE("\x62\xf3\x6d\x48\x25\x48\x01\x96"), INSN_INDIRECT, ANY, 0, {}},
	{"tpause ecx", CODE("\x66\x0f\xae\xf1"), 0, ANY, 0, {}},
	{"rdpid rax", CODE("\xf3\x0f\xc7\xf8"), 0, ANY, 0, {}},
	{"endbr64", CODE("\xf3\x0f\x1e\xfa"), 0, ANY, 0, {}},
};
/* clang-format on */

#endif

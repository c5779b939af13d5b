// SPDX-License-Identifier: GPL-2.0-or-later
/* Where control goes after an instruction: the targets of direct branches, and the instructions that control never passes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symbols/insn/flow.h"

#define CODE_ADDR 0xffffffff81000000ull
#define C(bytes) .code = (bytes), .len = sizeof(bytes) - 1
#define TO(distance, bytes, ...) \
	.direct = true, .branch = {.target = CODE_ADDR + (uint64_t)(int64_t)(distance), .width = (bytes), __VA_ARGS__}

struct flow_case {
	const char *text, *code;
	size_t len;
	bool direct, ends;
	struct insn_branch branch;
};

static const struct flow_case cases[] = {
	{"jmp .+0x12", C("\xeb\x10"), TO(0x12, 1), .ends = true},
	{"jmp .-2", C("\xeb\xfc"), TO(-2, 1), .ends = true},
	{"jmp, 32 bits", C("\xe9\x00\x01\x00\x00"), TO(0x105, 4), .ends = true},
	{"jmp, 32 bits, back", C("\xe9\xfb\xff\xff\xff"), TO(0, 4), .ends = true},
	{"cs jmp: its end is not recognised", C("\x2e\xe9\x00\x01\x00\x00"), TO(0x106, 4)},
	{"call", C("\xe8\x00\x01\x00\x00"), TO(0x105, 4, .call = true)},
	{"cs call", C("\x2e\xe8\x00\x01\x00\x00"), TO(0x106, 4, .call = true)},
	{"je .+4", C("\x74\x02"), TO(4, 1, .conditional = true)},
	{"jne, 32 bits", C("\x0f\x85\xfa\xff\xff\xff"), TO(0, 4, .conditional = true)},
	{"loop .", C("\xe2\xfe"), TO(0, 1, .conditional = true)},
	{"jrcxz .", C("\xe3\xfe"), TO(0, 1, .conditional = true)},
	{"jmp *%rax", C("\xff\xe0"), .ends = true},
	{"jmp *0x10(%rax,%rbp,8): its SIB is no opcode", C("\xff\xa4\xe8\x10\x00\x00\x00"), .ends = true},
	{"call *%rax", C("\xff\xd0")},
	{"incl (%rax)", C("\xff\x00")},
	{"push (%rax)", C("\xff\x30")},
	{"ret", C("\xc3"), .ends = true},
	{"iretq", C("\x48\xcf"), .ends = true},
	{"ud2", C("\x0f\x0b"), .ends = true},
	{"int3", C("\xcc")},
	{"nop", C("\x90")},
	{"mov $0x74,%al", C("\xb0\x74")},
	{"mov: its immediate is no branch", C("\xb8\xe9\x00\x00\x00")},
};

static void test_cases(void **state)
{
	struct insn_decoder *dec = insn_decoder_new();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct flow_case *c = &cases[i];
		struct insn_branch branch = {0};
		uint64_t target = 0;
		struct insn insn;

		if (insn_decode(dec, (const uint8_t *)c->code, c->len, CODE_ADDR, &insn) != c->len)
			fail_msg("%s: does not decode", c->text);
		if (insn_direct_branch(&insn, &branch) != c->direct)
			fail_msg("%s: insn_direct_branch() is wrong", c->text);
		if (branch.target != c->branch.target || branch.width != c->branch.width)
			fail_msg("%s: to %#llx by %u bytes", c->text, (unsigned long long)branch.target, branch.width);
		if (branch.call != c->branch.call || branch.conditional != c->branch.conditional)
			fail_msg("%s: call %d, conditional %d", c->text, branch.call, branch.conditional);
		/* Only a call, or a jump that is always taken, leads into another function. */
		if (insn_leads_to(&insn, &target) != (c->direct && !c->branch.conditional) ||
		    (target && target != c->branch.target))
			fail_msg("%s: insn_leads_to() is wrong", c->text);
		if (insn_ends_flow(&insn) != c->ends)
			fail_msg("%s: insn_ends_flow() is wrong", c->text);
	}
	insn_decoder_free(dec);
}

struct call_case {
	const char *text, *code;
	size_t len;
	bool call;
};

static const struct call_case call_cases[] = {
	{"call", C("\xe8\x00\x01\x00\x00"), true},
	{"call behind another instruction", C("\x90\x90\xe8\x00\x01\x00\x00"), true},
	{"call *%rax", C("\xff\xd0"), true},
	{"call *%r8", C("\x41\xff\xd0"), true},
	{"call *(%rax)", C("\xff\x10"), true},
	{"call *8(%rax)", C("\xff\x50\x08"), true},
	{"call *0x100(%rax)", C("\xff\x90\x00\x01\x00\x00"), true},
	{"call *0x100(%rip)", C("\xff\x15\x00\x01\x00\x00"), true},
	{"call *(%rax,%rcx,8)", C("\xff\x14\xc8"), true},
	{"call *8(%rax,%rcx,8)", C("\xff\x54\xc8\x08"), true},
	{"call *0x100(%rax,%rcx,8)", C("\xff\x94\xc8\x00\x01\x00\x00"), true},
	{"call *0x100(,%rcx,8)", C("\xff\x14\xcd\x00\x01\x00\x00"), true},
	{"call whose last byte is behind", C("\xe8\x00\x01\x00")},
	{"call that ends before", C("\xff\xd0\x90")},
	{"call whose SIB is behind", C("\x90\xff\x14")},
	{"jmp *%rax", C("\xff\xe0")},
	{"one byte", C("\xff")},
	{"none", C("")},
};

static void test_may_be_returned_to(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(call_cases) / sizeof(*call_cases); i++) {
		const struct call_case *c = &call_cases[i];

		if (insn_call_may_end((const uint8_t *)c->code, c->len) != c->call)
			fail_msg("%s: insn_call_may_end() is wrong", c->text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_may_be_returned_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbols/insn/count.h"
#include "tests/unit/symbols/insn_cases.h"

#define CODE_ADDR 0xffffffff81000000ull
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static int setup(void **state)
{
	*state = insn_decoder_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	insn_decoder_free(*state);
	return 0;
}

static bool same_mem(const struct insn_mem *a, const struct insn_mem *b)
{
	return a->disp == b->disp && a->size == b->size && a->rw == b->rw && a->base == b->base && a->index == b->index &&
	       (a->index == INSN_REG_NONE || a->scale == b->scale) && a->seg == b->seg && a->addr32 == b->addr32;
}

static void check_case(struct insn_decoder *dec, const struct insn_case *c)
{
	uint8_t code[INSN_MAX_LEN + 1];
	struct insn insn;

	/* The bytes after an instruction must not change the result. */
	memset(code, 0x90, sizeof(code));
	memcpy(code, c->code, c->len);
	if (insn_decode(dec, code, sizeof(code), CODE_ADDR, &insn) != c->len)
		fail_msg("%s: wrong length", c->text);
	if (insn.len != c->len || insn.addr != CODE_ADDR || memcmp(insn.bytes, c->code, c->len))
		fail_msg("%s: wrong bytes", c->text);
	if (insn.flags != c->flags)
		fail_msg("%s: flags %#x, not %#x", c->text, insn.flags, c->flags);
	if (insn.nmem != c->nmem)
		fail_msg("%s: %u memory operands, not %u", c->text, insn.nmem, c->nmem);
	if (c->regs_written != ANY && insn.regs_written != c->regs_written)
		fail_msg("%s: writes registers %#x, not %#x", c->text, insn.regs_written, c->regs_written);
	for (unsigned i = 0; i < c->nmem; i++) {
		if (!same_mem(&insn.mem[i], &c->mem[i]))
			fail_msg("%s: operand %u is wrong", c->text, i);
	}
}

static void test_cases(void **state)
{
	for (size_t i = 0; i < COUNT(insn_cases); i++)
		check_case(*state, &insn_cases[i]);
}

static void test_truncated(void **state)
{
	/* The decoder must refuse an instruction that is cut short. The copy lets the sanitizer see reads past the buffer. */
	for (size_t i = 0; i < COUNT(insn_cases); i++) {
		const struct insn_case *c = &insn_cases[i];

		for (unsigned len = 0; len < c->len; len++) {
			uint8_t *copy = malloc(len + 1);
			struct insn insn;

			assert_non_null(copy);
			memcpy(copy, c->code, len);
			/* A lone rep, lock or REX prefix, and a whole shorter instruction, may decode. */
			assert_true(insn_decode(*state, copy, len, CODE_ADDR, &insn) <= len);
			free(copy);
		}
	}
}

static void test_not_an_instruction(void **state)
{
	static const char *const bad[] = {"\x06", "\xea\x01\x02\x03\x04\x05\x06", "\xff\xff", "\x0f\x04", "\x0f\x36"};
	struct insn insn;

	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(insn_decode(*state, (const uint8_t *)bad[i], strlen(bad[i]), CODE_ADDR, &insn), 0);
}

static unsigned accesses(struct insn_decoder *dec, const char *code, size_t len, const struct x86_regs *regs,
			 struct mem_access out[INSN_MAX_MEM])
{
	struct insn insn;

	assert_int_equal(insn_decode(dec, (const uint8_t *)code, len, regs->rip, &insn), len);
	return insn_accesses(&insn, regs, out);
}

#define ACCESSES(code, regs, out) accesses(*state, code, sizeof(code) - 1, regs, out)

static void test_effective_address(void **state)
{
	struct x86_regs regs = {.rip = CODE_ADDR, .gs_base = 0xffff888000000000ull, .fs_base = 0x7000};
	struct mem_access a[INSN_MAX_MEM];

	regs.gpr[X86_RCX] = 3;
	regs.gpr[13] = 0xffff888012345000ull;
	regs.gpr[X86_RBX] = 0xffffffff00000010ull;
	/* mov byte ptr [r13+rcx*4-16], 5 */
	assert_int_equal(ACCESSES("\x41\xc6\x44\x8d\xf0\x05", &regs, a), 1);
	assert_true(a[0].gva == 0xffff888012344ffcull && a[0].size == 1 && a[0].rw == INSN_WRITE);
	/* movzx eax, word ptr [rip+0x1234]: from the end of the instruction */
	assert_int_equal(ACCESSES("\x0f\xb7\x05\x34\x12\x00\x00", &regs, a), 1);
	assert_true(a[0].gva == CODE_ADDR + 7 + 0x1234 && a[0].size == 2 && a[0].rw == INSN_READ);
	/* mov rax, gs:[0x28] */
	assert_int_equal(ACCESSES("\x65\x48\x8b\x04\x25\x28\x00\x00\x00", &regs, a), 1);
	assert_true(a[0].gva == 0xffff888000000028ull && a[0].size == 8);
	/* mov eax, [ebx]: truncated */
	assert_int_equal(ACCESSES("\x67\x8b\x03", &regs, a), 1);
	assert_true(a[0].gva == 0x10);
	/* mov eax, gs:[ebx]: truncated before the segment base is added */
	assert_int_equal(ACCESSES("\x65\x67\x8b\x03", &regs, a), 1);
	assert_true(a[0].gva == 0xffff888000000010ull);
	/* lea and nop access nothing */
	assert_int_equal(ACCESSES("\x48\x8d\x48\x08", &regs, a), 0);
}

static void test_string_accesses(void **state)
{
	struct x86_regs regs = {.rip = CODE_ADDR};
	struct mem_access a[INSN_MAX_MEM];

	regs.gpr[X86_RSI] = 0x10000;
	regs.gpr[X86_RDI] = 0x20000;
	regs.gpr[X86_RCX] = 5;
	/* rep movsq */
	assert_int_equal(ACCESSES("\xf3\x48\xa5", &regs, a), 2);
	assert_true(a[0].gva == 0x10000 && a[0].size == 40 && a[0].rw == INSN_READ);
	assert_true(a[1].gva == 0x20000 && a[1].size == 40 && a[1].rw == INSN_WRITE);
	/* With DF set, RSI and RDI point to the highest element. */
	regs.rflags = X86_RFLAGS_DF;
	assert_int_equal(ACCESSES("\xf3\x48\xa5", &regs, a), 2);
	assert_true(a[0].gva == 0x10000 - 32 && a[0].size == 40);
	/* Without REP, DF does not change the address of the element, and RCX is not used. */
	assert_int_equal(ACCESSES("\xaa", &regs, a), 1);
	assert_true(a[0].gva == 0x20000 && a[0].size == 1);
	regs.rflags = 0;
	regs.gpr[X86_RCX] = 0;
	assert_int_equal(ACCESSES("\xf3\x48\xa5", &regs, a), 0);
	/* The size saturates, and never wraps. */
	regs.gpr[X86_RCX] = UINT64_MAX;
	assert_int_equal(ACCESSES("\xf3\x48\xab", &regs, a), 1);
	assert_int_equal(a[0].size, 1 << 20);
	/* With a 32-bit address size, the counter is ECX. */
	regs.gpr[X86_RCX] = 0x100000002ull;
	assert_int_equal(ACCESSES("\x67\xf3\xaa", &regs, a), 1);
	assert_int_equal(a[0].size, 2);
}

static bool may_count_up(struct insn_decoder *dec, const char *code, size_t len, struct insn *insn)
{
	assert_int_equal(insn_decode(dec, (const uint8_t *)code, len, CODE_ADDR, insn), len);
	return insn_may_count_up(insn);
}

static void test_counting(void **state)
{
	struct x86_regs regs = {0};
	struct insn insn;

#define COUNTS(code) may_count_up(*state, code, sizeof(code) - 1, &insn)
	assert_true(COUNTS("\xf0\xff\x07"));	       /* lock incl (%rdi) */
	assert_true(COUNTS("\xf0\x48\xff\x47\x08"));   /* lock incq 8(%rdi) */
	assert_true(COUNTS("\xf0\x83\x07\x02"));       /* lock addl $2,(%rdi) */
	assert_true(COUNTS("\xf0\x81\x07\0\x01\0\0")); /* lock addl $256,(%rdi) */
	assert_true(insn_counts_up(&insn, &regs));
	assert_false(COUNTS("\xf0\x83\x07\xff"));	/* lock addl $-1,(%rdi) */
	assert_false(COUNTS("\xf0\x81\x07\0\0\0\x80")); /* lock addl $-0x80000000,(%rdi) */
	assert_false(COUNTS("\xf0\xff\x0f"));		/* lock decl (%rdi) */
	assert_false(COUNTS("\xf0\x83\x2f\x01"));	/* lock subl $1,(%rdi) */
	assert_false(COUNTS("\xf0\x66\xff\x07"));	/* lock incw (%rdi) */
	assert_false(COUNTS("\xff\x07"));		/* incl (%rdi) */
	assert_false(COUNTS("\xf0\x0f\xb1\x17"));	/* lock cmpxchg %edx,(%rdi) */
	assert_false(COUNTS("\xf0\x0f\xba\x2f\x03"));	/* lock btsl $3,(%rdi) */
	/* lock xadd %eax,(%rdi): by what it adds */
	assert_true(COUNTS("\xf0\x0f\xc1\x07"));
	assert_false(insn_counts_up(&insn, &regs));
	regs.gpr[X86_RAX] = 0xffffffff;
	assert_false(insn_counts_up(&insn, &regs));
	regs.gpr[X86_RAX] = 1;
	assert_true(insn_counts_up(&insn, &regs));
	/* lock xadd %r10,(%rdi) */
	assert_true(COUNTS("\xf0\x4c\x0f\xc1\x17"));
	assert_false(insn_counts_up(&insn, &regs));
	regs.gpr[X86_R8 + 2] = UINT64_C(1) << 32;
	assert_true(insn_counts_up(&insn, &regs));
}

static bool left_zero(struct insn_decoder *dec, const char *code, size_t len, uint64_t rax, bool zero)
{
	struct x86_regs regs = {.rflags = zero ? X86_RFLAGS_ZF : 0};
	struct insn insn;

	regs.gpr[X86_RAX] = rax;
	regs.gpr[X86_RDX] = ~rax;
	assert_int_equal(insn_decode(dec, (const uint8_t *)code, len, CODE_ADDR, &insn), len);
	return insn_left_zero(&insn, &regs);
}

static void test_left_zero(void **state)
{
#define LEFT_ZERO(code, rax, zero) left_zero(*state, code, sizeof(code) - 1, rax, zero)
	assert_true(LEFT_ZERO("\xf0\xff\x0f", 0, true)); /* lock decl (%rdi) */
	assert_false(LEFT_ZERO("\xf0\xff\x0f", 0, false));
	assert_true(LEFT_ZERO("\xf0\x83\x2f\x01", 0, true)); /* lock subl $1,(%rdi) */
	assert_true(LEFT_ZERO("\xf0\x29\x07", 0, true));     /* lock sub %eax,(%rdi) */
	assert_false(LEFT_ZERO("\xf0\x29\x07", 0, false));
	/* lock xadd %eax,(%rdi): the old value is in eax */
	assert_true(LEFT_ZERO("\xf0\x0f\xc1\x07", 1, true));
	assert_false(LEFT_ZERO("\xf0\x0f\xc1\x07", 1, false));
	/* lock cmpxchg %edx,(%rdi): edx was stored if the comparison was true */
	assert_true(LEFT_ZERO("\xf0\x0f\xb1\x17", UINT64_MAX, true));
	assert_false(LEFT_ZERO("\xf0\x0f\xb1\x17", UINT64_MAX, false));
	assert_false(LEFT_ZERO("\xf0\x0f\xb1\x17", 1, true));
	assert_false(LEFT_ZERO("\x87\x07", 0, true));		  /* xchg %eax,(%rdi) */
	assert_false(LEFT_ZERO("\xff\x0f", 0, true));		  /* decl (%rdi) */
	assert_false(LEFT_ZERO("\xf0\x0f\xba\x2f\x03", 0, true)); /* lock btsl $3,(%rdi) */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_not_an_instruction),
		cmocka_unit_test(test_effective_address),
		cmocka_unit_test(test_string_accesses),
		cmocka_unit_test(test_counting),
		cmocka_unit_test(test_left_zero),
	};

	return cmocka_run_group_tests_name("symbols: instructions", tests, setup, teardown);
}

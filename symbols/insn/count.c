/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbols/insn/count.h"

#include <string.h>

#include "symbols/insn/prefixes.h"

/* Opcodes and values of the ModRM byte's `reg` field (SDM vol. 2, appendix A). The second byte of xadd follows 0x0f. */
enum { GROUP1_IMM32 = 0x81, GROUP1_IMM8 = 0x83, GROUP5 = 0xff, XADD = 0xc1, CMPXCHG = 0xb1 };

static unsigned modrm_reg(uint8_t modrm)
{
	return modrm >> 3 & 7;
}

/* Returns the constant at the end of the instruction, of `size` bytes. */
static int32_t constant(const struct insn *insn, unsigned size)
{
	int32_t value;

	if (size == 1)
		return (int8_t)insn->bytes[insn->len - 1];
	memcpy(&value, insn->bytes + insn->len - sizeof(value), sizeof(value));
	return value;
}

static bool is_xadd(const uint8_t *opcode)
{
	return opcode[0] == 0x0f && opcode[1] == XADD;
}

bool insn_may_count_up(const struct insn *insn)
{
	const uint8_t *opcode = insn->bytes + insn_scan_prefixes(insn->bytes, insn->len).len;

	if (!(insn->flags & INSN_LOCKED) || insn->nmem != 1 ||
	    (insn->mem[0].size != sizeof(uint32_t) && insn->mem[0].size != sizeof(uint64_t)))
		return false;
	switch (opcode[0]) {
	case GROUP5:
		return modrm_reg(opcode[1]) == 0;
	case GROUP1_IMM8:
		return modrm_reg(opcode[1]) == 0 && constant(insn, 1) > 0;
	case GROUP1_IMM32:
		return modrm_reg(opcode[1]) == 0 && constant(insn, sizeof(int32_t)) > 0;
	default:
		return is_xadd(opcode);
	}
}

/* Returns the value of the register that the ModRM byte after a two-byte opcode names, as wide as the memory operand. */
static uint64_t register_operand(const struct insn *insn, const struct x86_regs *regs)
{
	const struct insn_prefixes prefixes = insn_scan_prefixes(insn->bytes, insn->len);
	uint64_t value = regs->gpr[modrm_reg(insn->bytes[prefixes.len + 2]) | (prefixes.rex & 4) << 1];

	return insn->mem[0].size == sizeof(uint32_t) ? (uint32_t)value : value;
}

bool insn_counts_up(const struct insn *insn, const struct x86_regs *regs)
{
	uint64_t value;

	if (!is_xadd(insn->bytes + insn_scan_prefixes(insn->bytes, insn->len).len))
		return true;
	value = register_operand(insn, regs);
	return insn->mem[0].size == sizeof(uint32_t) ? (int32_t)value > 0 : (int64_t)value > 0;
}

bool insn_left_zero(const struct insn *insn, const struct x86_regs *regs)
{
	const uint8_t *opcode = insn->bytes + insn_scan_prefixes(insn->bytes, insn->len).len;
	bool zero = regs->rflags & X86_RFLAGS_ZF;

	if (!(insn->flags & INSN_LOCKED) || insn->nmem != 1)
		return false;
	/* An xadd sets ZF by the sum that it stores, and a cmpxchg by its comparison. */
	if (opcode[0] == 0x0f)
		return zero && (is_xadd(opcode) || (opcode[1] == CMPXCHG && !register_operand(insn, regs)));
	/* The opcodes from 0x00 to 0x3f with a memory operand are those of group 1. An xchg leaves the flags alone. */
	return zero && (opcode[0] < 0x40 || opcode[0] == GROUP1_IMM8 || opcode[0] == GROUP1_IMM32 || opcode[0] == GROUP5);
}

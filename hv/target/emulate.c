/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Emulates the instructions that hooks are planted on (emulate.h), most of which access only registers and the stack. */
#include "hv/target/emulate.h"

#include <string.h>

#include "symbols/insn/flow.h"

enum form { NOT_EMULATED, PUSH, RET, JUMP, CALL, TEST, MOVE, SUBTRACT, CLEAR };

#define REX_B 0x41
#define REX_W 0x48
#define ALL_ARITHMETIC_FLAGS (X86_RFLAGS_CF | X86_RFLAGS_PF | X86_RFLAGS_AF | X86_RFLAGS_ZF | X86_RFLAGS_SF | X86_RFLAGS_OF)

/* An instruction with two register operands (SDM vol. 2, table 2-2). */
struct two_registers {
	uint8_t opcode;
	/* A REX precedes the opcode, so that the byte registers 4 to 7 are SPL to DIL, not AH to BH. */
	bool rex;
	/* Size of the operands, in bytes. */
	uint8_t size;
	/* The fields of ModRM, each with its REX bit. */
	uint8_t reg, rm;
};

/*
 * Returns true, with *out set, if the instruction consists of an optional REX, one opcode byte and a ModRM with two registers.
 */
static bool is_two_registers(const struct insn *insn, struct two_registers *out)
{
	bool rex = insn->len == 3 && (insn->bytes[0] & 0xf0) == 0x40;
	const uint8_t *b = insn->bytes + rex;
	uint8_t prefix = rex ? insn->bytes[0] : 0;

	if (insn->len != 2u + rex || b[1] < 0xc0)
		return false;
	out->opcode = b[0];
	out->rex = rex;
	out->size = !(b[0] & 1) ? 1 : prefix & 8 ? 8 : 4;
	out->reg = (uint8_t)((b[1] >> 3 & 7) | (prefix & 4) << 1);
	out->rm = (uint8_t)((b[1] & 7) | (prefix & 1) << 3);
	return true;
}

static bool is_push_opcode(uint8_t op)
{
	return op >= 0x50 && op <= 0x57;
}

/*
 * Returns true, with the constant in *out, if the instruction is a sub of a constant from a 64-bit register, the form in which
 * functions make their stack frame: REX.W 83 /5 ib or REX.W 81 /5 id.
 */
static bool is_subtract(const struct insn *insn, int64_t *out)
{
	const uint8_t *b = insn->bytes;
	bool byte = insn->len == 4 && b[1] == 0x83;
	int32_t wide = 0;

	if (!byte && (insn->len != 7 || b[1] != 0x81))
		return false;
	if ((b[0] & ~1u) != REX_W || (b[2] & 0xf8) != 0xe8)
		return false;
	memcpy(&wide, b + 3, sizeof(wide));
	*out = byte ? (int8_t)b[3] : wide;
	return true;
}

static enum form form_of(const struct insn *insn)
{
	const uint8_t *b = insn->bytes;
	struct two_registers two;
	int64_t constant;

	if ((insn->len == 1 && is_push_opcode(b[0])) || (insn->len == 2 && b[0] == REX_B && is_push_opcode(b[1])))
		return PUSH;
	if (insn->len == 1 && b[0] == 0xc3)
		return RET;
	if ((insn->len == 2 && b[0] == 0xeb) || (insn->len == 5 && b[0] == 0xe9))
		return JUMP;
	if (insn->len == 5 && b[0] == 0xe8)
		return CALL;
	if (insn->len == 3 && b[0] == 0xc6 && b[1] == 0x07 && b[2] == 0) /* movb $0, (%rdi) */
		return CLEAR;
	if (is_two_registers(insn, &two) && (two.opcode == 0x84 || two.opcode == 0x85))
		return TEST;
	if (is_two_registers(insn, &two) && (two.opcode == 0x89 || two.opcode == 0x8b))
		return MOVE;
	if (is_subtract(insn, &constant))
		return SUBTRACT;
	return NOT_EMULATED;
}

bool target_can_emulate(const struct insn *insn)
{
	return form_of(insn) != NOT_EMULATED;
}

static int push(struct target *t, struct x86_regs *regs, uint64_t value)
{
	if (target_write(t, regs->cr3, regs->cr4, regs->gpr[X86_RSP] - 8, &value, sizeof(value)))
		return -1;
	regs->gpr[X86_RSP] -= 8;
	return 0;
}

static unsigned pushed_register(const struct insn *insn)
{
	return insn->len == 2 ? 8u + (insn->bytes[1] & 7u) : insn->bytes[0] & 7u;
}

static uint64_t operand(const struct x86_regs *regs, const struct two_registers *two, uint8_t gpr)
{
	if (two->size == 8)
		return regs->gpr[gpr];
	if (two->size == 4)
		return (uint32_t)regs->gpr[gpr];
	if (!two->rex && gpr >= 4)
		return (uint8_t)(regs->gpr[gpr - 4] >> 8);
	return (uint8_t)regs->gpr[gpr];
}

/* Set the flags of a logical AND (SDM vol. 2, TEST). The SDM leaves AF undefined; CPUs clear AF. */
static void test_registers(const struct insn *insn, struct x86_regs *regs)
{
	struct two_registers two;
	uint64_t result, flags = 0;

	is_two_registers(insn, &two);
	result = operand(regs, &two, two.reg) & operand(regs, &two, two.rm);
	if (!result)
		flags |= X86_RFLAGS_ZF;
	if (result >> (8 * two.size - 1))
		flags |= X86_RFLAGS_SF;
	if (!__builtin_parity((unsigned)result & 0xff))
		flags |= X86_RFLAGS_PF;
	regs->rflags = (regs->rflags & ~ALL_ARITHMETIC_FLAGS) | flags;
}

/* Subtract the constant and set the flags (SDM vol. 2, SUB). */
static void subtract(const struct insn *insn, struct x86_regs *regs)
{
	uint64_t *reg = &regs->gpr[(insn->bytes[2] & 7u) | (insn->bytes[0] & 1u) << 3];
	uint64_t before = *reg, after, flags = 0;
	int64_t constant;

	is_subtract(insn, &constant);
	after = before - (uint64_t)constant;
	*reg = after;
	if (before < (uint64_t)constant)
		flags |= X86_RFLAGS_CF;
	if (!__builtin_parity((unsigned)after & 0xff))
		flags |= X86_RFLAGS_PF;
	if ((before & 15) < ((uint64_t)constant & 15))
		flags |= X86_RFLAGS_AF;
	if (!after)
		flags |= X86_RFLAGS_ZF;
	if (after >> 63)
		flags |= X86_RFLAGS_SF;
	if (((before ^ (uint64_t)constant) & (before ^ after)) >> 63)
		flags |= X86_RFLAGS_OF;
	regs->rflags = (regs->rflags & ~ALL_ARITHMETIC_FLAGS) | flags;
}

/* Carry out a mov. A 32-bit mov clears the upper half of the destination register. */
static void move_register(const struct insn *insn, struct x86_regs *regs)
{
	struct two_registers two;

	is_two_registers(insn, &two);
	if (two.opcode == 0x89)
		regs->gpr[two.rm] = operand(regs, &two, two.reg);
	else
		regs->gpr[two.reg] = operand(regs, &two, two.rm);
}

static int clear_byte(struct target *t, const struct x86_regs *regs)
{
	const uint8_t zero = 0;

	return target_write(t, regs->cr3, regs->cr4, regs->gpr[X86_RDI], &zero, sizeof(zero));
}

int target_emulate(struct target *t, const struct insn *insn, struct x86_regs *regs)
{
	uint64_t next = insn->addr + insn->len, to;
	struct insn_branch branch;

	switch (form_of(insn)) {
	case PUSH:
		if (push(t, regs, regs->gpr[pushed_register(insn)]))
			return -1;
		regs->rip = next;
		return 0;
	case RET:
		if (target_read(t, regs->cr3, regs->cr4, regs->gpr[X86_RSP], &to, sizeof(to)))
			return -1;
		regs->gpr[X86_RSP] += 8;
		regs->rip = to;
		return 0;
	case JUMP:
	case CALL:
		if (!insn_direct_branch(insn, &branch) || (branch.call && push(t, regs, next)))
			return -1;
		regs->rip = branch.target;
		return 0;
	case TEST:
		test_registers(insn, regs);
		regs->rip = next;
		return 0;
	case MOVE:
		move_register(insn, regs);
		regs->rip = next;
		return 0;
	case SUBTRACT:
		subtract(insn, regs);
		regs->rip = next;
		return 0;
	case CLEAR:
		if (clear_byte(t, regs))
			return -1;
		regs->rip = next;
		return 0;
	case NOT_EMULATED:
		break;
	}
	return -1;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds out what the code after an instruction does with the flags that the instruction sets, or with the value that it pushes.
 */
#include "pruner/code/flow/parts.h"

/*
 * Returns whether the instruction overwrites all flags (SDM vol. 2). An addition or subtraction of 1 does not count: it may be
 * inc or dec, which keep CF, and the decoder does not tell these apart from add and sub. bt, bts, btr and btc keep ZF. A shift
 * by 0 keeps all flags, and the count of a shift by a register may be 0.
 */
static bool sets_all_flags(const struct insn_op *op)
{
	switch (op->kind) {
	case INSN_OP_AND:
	case INSN_OP_OR:
	case INSN_OP_XOR:
	case INSN_OP_TEST:
	case INSN_OP_CMP:
		return true;
	case INSN_OP_ADD:
	case INSN_OP_SUB:
		return op->src.kind != INSN_OPERAND_IMM || op->imm != 1;
	case INSN_OP_SHL:
	case INSN_OP_SHR:
		return op->src.kind == INSN_OPERAND_IMM && (op->imm & 31);
	default:
		return false;
	}
}

bool flow_flags_are_read(const struct code *code, unsigned i)
{
	int next[2];

	if (!code->insns[i].op.sets_flags)
		return false;
	for (unsigned left = code->count; left; left--) {
		const struct insn_op *op;

		if (code_successors(code, i, next) != 1)
			return true;
		if (next[0] == CODE_OUTSIDE)
			return !code->insns[i].callee;
		i = (unsigned)next[0];
		op = &code->insns[i].op;
		if (op->reads_flags || op->kind == INSN_OP_JCC)
			return true;
		if (op->kind == INSN_OP_CALL || op->kind == INSN_OP_RET || sets_all_flags(op))
			return false;
	}
	return true;
}

bool flow_pushed_to_show(const struct code *code, unsigned i)
{
	while (++i < code->count) {
		const struct insn_op *op = &code->insns[i].op;
		bool moves = op->dst.kind == INSN_OPERAND_REG && op->dst.reg != X86_RSP;

		if (op->kind == INSN_OP_CALL)
			return code->insns[i].shows;
		if (op->insn.nmem && op->insn.mem[0].base == X86_RSP)
			return false;
		if (op->kind != INSN_OP_PUSH && op->kind != INSN_OP_NOP &&
		    !(moves && op->kind >= INSN_OP_MOV && op->kind <= INSN_OP_LEA))
			return false;
	}
	return false;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a call does to registers (System V ABI for x86-64, section 3.2.1), and the instruction that zeroes a register. Each
 * register set has one bit for each enum x86_gpr.
 */
#ifndef OUTRIDER_PRUNER_CODE_FLOW_CALLS_H
#define OUTRIDER_PRUNER_CODE_FLOW_CALLS_H

#include "symbols/insn/op.h"

/* The registers of the first six arguments: RDI, RSI, RDX, RCX, R8 and R9. A call may have fewer arguments. */
#define FLOW_ARGUMENTS (1u << X86_RDI | 1u << X86_RSI | 1u << X86_RDX | 1u << X86_RCX | 3u << X86_R8)

/* The registers that a called function preserves: RBX, RBP, RSP, and R12 to R15. */
#define FLOW_CALLEE_SAVED (1u << X86_RBX | 1u << X86_RBP | 1u << X86_RSP | 0xfu << 12)

/* Returns whether `op` is "xor reg,reg" or "sub reg,reg". Its result is 0 and does not depend on the register. */
static inline bool flow_makes_zero(const struct insn_op *op)
{
	return (op->kind == INSN_OP_XOR || op->kind == INSN_OP_SUB) && op->dst.kind == INSN_OPERAND_REG &&
	       op->src.kind == INSN_OPERAND_REG && op->dst.reg == op->src.reg && !op->dst.high && !op->src.high;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts about registers and flags for decision.c, decision_bits.c, decision_results.c and decision_test.c. Only they use this
 * header.
 */
#ifndef OUTRIDER_DETECT_LOCKS_DECISION_REGISTERS_H
#define OUTRIDER_DETECT_LOCKS_DECISION_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/x86.h"
#include "symbols/insn/op.h"

/* Registers that a function keeps for its caller, with a bit for each enum x86_gpr (System V x86-64 psABI, 3.2.1). */
#define DECISION_KEPT (1u << X86_RBX | 1u << X86_RBP | 0xfu << (X86_R15 - 3))
/* Registers with arguments: RDI, RSI, RDX, RCX, R8, R9 (3.2.3). */
#define DECISION_ARGUMENTS (1u << X86_RDI | 1u << X86_RSI | 1u << X86_RDX | 1u << X86_RCX | 3u << X86_R8)

/* Conditions of a conditional jump, without the lowest bit, which negates them (SDM vol. 2, Jcc). */
enum { DECISION_BY_CARRY = 2, DECISION_BY_ZERO = 4 };

/* Returns the condition by which a conditional jump looks at the flags: the low four bits of its opcode. */
static inline uint8_t decision_condition(const struct insn_op *jcc)
{
	const uint8_t *b = jcc->insn.bytes;

	return (b[0] == 0x0f ? b[1] : b[0]) & 0x0f;
}

/* Returns whether the instruction makes its register 0, whatever the register was. */
static inline bool decision_clears(const struct insn_op *op)
{
	return (op->kind == INSN_OP_XOR || op->kind == INSN_OP_SUB) && op->dst.kind == INSN_OPERAND_REG &&
	       op->src.kind == INSN_OPERAND_REG && op->src.reg == op->dst.reg && op->dst.size >= sizeof(uint32_t);
}

/* Returns the bits of a value's low `bytes` bytes: all bits from 8 bytes on. */
static inline uint64_t decision_low_bits(unsigned bytes)
{
	return bytes >= sizeof(uint64_t) ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;
}

#endif

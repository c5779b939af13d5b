/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one x86-64 instruction does to values: enough to follow a value, and the bits of it, through a few instructions. What is
 * not understood says so, and which registers it reads and writes.
 */
#ifndef OUTRIDER_SYMBOLS_INSN_OP_H
#define OUTRIDER_SYMBOLS_INSN_OP_H

#include "symbols/insn/insn.h"

enum insn_op_kind {
	INSN_OP_OTHER, /* dst, src and imm say nothing */
	INSN_OP_MOV,   /* zero-extended where dst is larger (movzx) */
	INSN_OP_AND,
	INSN_OP_OR,
	INSN_OP_XOR,
	INSN_OP_ADD, /* inc: of 1 */
	INSN_OP_SUB, /* dec: of 1 */
	INSN_OP_SHL,
	INSN_OP_SHR,  /* logical */
	INSN_OP_TEST, /* and, for the flags alone */
	INSN_OP_CMP,
	INSN_OP_BT, /* a bit's number is src */
	INSN_OP_BTS,
	INSN_OP_BTR,
	INSN_OP_BTC,
	INSN_OP_CMOV,
	INSN_OP_SET,  /* dst becomes 0 or 1 */
	INSN_OP_LEA,  /* dst = src + imm where src is a register; else src is INSN_OPERAND_NONE, imm the displacement */
	INSN_OP_PUSH, /* of src */
	INSN_OP_POP,  /* to dst */
	INSN_OP_JUMP,
	INSN_OP_JCC, /* or by what a register holds: jrcxz, loop */
	INSN_OP_CALL,
	INSN_OP_RET,
	INSN_OP_STOP, /* does not go on behind it: int3, ud1 */
	INSN_OP_NOP,  /* pause is one, and ud2: Linux goes on behind that of a WARN_ON() */
};

enum insn_operand_kind { INSN_OPERAND_NONE, INSN_OPERAND_REG, INSN_OPERAND_IMM, INSN_OPERAND_MEM };

struct insn_operand {
	uint8_t kind; /* enum insn_operand_kind; MEM: insn.mem[0] */
	int8_t reg;   /* enum x86_gpr */
	uint8_t size; /* bytes */
	bool high;    /* AH, BH, CH, DH: bits 8 to 15 */
};

struct insn_op {
	struct insn insn;
	uint8_t kind; /* enum insn_op_kind */
	bool reads_flags, sets_flags;
	struct insn_operand dst, src;
	uint64_t imm;		/* of src, sign-extended from dst's size */
	uint64_t target;	/* of a direct jump or call; 0: indirect */
	uint16_t reads, writes; /* bit per x86_gpr: at least those; not RSP of a push, call or ret */
	uint16_t data;		/* of `reads`: not only for the address of its memory, or of a lea */
};

/* insn_decode(), with all that it does. Returns its length, or 0. */
unsigned insn_op_decode(struct insn_decoder *dec, const uint8_t *code, size_t len, uint64_t addr, struct insn_op *out);

#endif

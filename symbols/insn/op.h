/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one x86-64 instruction does to values: enough to follow a value, and single bits of it, through a few instructions. An
 * instruction that is not understood is given as INSN_OP_OTHER, with the registers that it reads and writes.
 */
#ifndef OUTRIDER_SYMBOLS_INSN_OP_H
#define OUTRIDER_SYMBOLS_INSN_OP_H

#include "symbols/insn/insn.h"

/* What happens to the operands. Where no result is named, it goes to dst. */
enum insn_op_kind {
	INSN_OP_OTHER, /* not understood: dst, src and imm have no meaning */
	INSN_OP_MOV,   /* src is zero-extended where dst is larger (movzx) */
	INSN_OP_AND,
	INSN_OP_OR,
	INSN_OP_XOR,
	INSN_OP_ADD, /* inc is the addition of an immediate 1 */
	INSN_OP_SUB, /* dec is the subtraction of an immediate 1 */
	INSN_OP_SHL,
	INSN_OP_SHR,  /* the logical shift */
	INSN_OP_TEST, /* an AND whose result goes to the flags only */
	INSN_OP_CMP,  /* a subtraction whose result goes to the flags only */
	INSN_OP_BT,   /* src is the number of a bit in dst */
	INSN_OP_BTS,  /* src is the number of a bit in dst */
	INSN_OP_BTR,  /* src is the number of a bit in dst */
	INSN_OP_BTC,  /* src is the number of a bit in dst */
	INSN_OP_CMOV,
	INSN_OP_SET,  /* dst becomes 0 or 1 */
	INSN_OP_LEA,  /* dst = src + imm when src is a register; when src is INSN_OPERAND_NONE, imm is only the displacement */
	INSN_OP_PUSH, /* src is pushed */
	INSN_OP_POP,  /* dst is popped */
	INSN_OP_JUMP,
	INSN_OP_JCC, /* a jump by the flags or by RCX (jrcxz, loop) */
	INSN_OP_CALL,
	INSN_OP_RET,
	INSN_OP_STOP, /* execution does not continue behind it: int3, ud1 */
	INSN_OP_NOP,  /* also pause, and also ud2, since Linux continues behind the ud2 of a WARN_ON() */
};

enum insn_operand_kind {
	INSN_OPERAND_NONE,
	INSN_OPERAND_REG, /* a general register, or a part of one */
	INSN_OPERAND_IMM, /* the number insn_op.imm */
	INSN_OPERAND_MEM, /* the memory operand insn_op.insn.mem[0] */
};

struct insn_operand {
	uint8_t kind; /* enum insn_operand_kind */
	int8_t reg;   /* enum x86_gpr; only valid when kind is INSN_OPERAND_REG */
	uint8_t size; /* bytes */
	bool high;    /* the register is AH, BH, CH or DH: bits 8 to 15 of `reg` */
};

struct insn_op {
	struct insn insn;
	uint8_t kind;	  /* enum insn_op_kind */
	bool reads_flags; /* some of RFLAGS' status flags are read */
	bool sets_flags;  /* some of RFLAGS' status flags are written */
	struct insn_operand dst, src;
	uint64_t imm;	 /* the number that src stands for, sign-extended from dst's size */
	uint64_t target; /* the GVA that a direct jump or call goes to; 0 when it is indirect */
	/*
	 * One bit for each enum x86_gpr that is read or written. There may be more bits than the instruction needs, never
	 * fewer, except that RSP is not counted for a push, a call or a return.
	 */
	uint16_t reads, writes;
	/* Those of `reads` that are read for more than the address of a memory operand or of a lea. */
	uint16_t data;
};

/* Decode as insn_decode() does, and fill in all of *out. Returns the instruction's length in bytes, or 0. */
unsigned insn_op_decode(struct insn_decoder *dec, const uint8_t *code, size_t len, uint64_t addr, struct insn_op *out);

#endif

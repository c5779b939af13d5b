/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one x86-64 instruction does to values: enough to follow a value, or single bits of it, through a few instructions. An
 * instruction whose effect is not modelled becomes INSN_OP_OTHER, with the registers that it reads and writes.
 */
#ifndef OUTRIDER_SYMBOLS_INSN_OP_H
#define OUTRIDER_SYMBOLS_INSN_OP_H

#include "symbols/insn/insn.h"

/* What the instruction does to its operands. The result goes to dst unless the entry says otherwise. */
enum insn_op_kind {
	INSN_OP_OTHER, /* not modelled: dst, src and imm have no meaning */
	INSN_OP_MOV,   /* src is zero-extended if dst is larger (movzx) */
	INSN_OP_AND,
	INSN_OP_OR,
	INSN_OP_XOR,
	INSN_OP_ADD, /* inc is decoded as the addition of an immediate 1 */
	INSN_OP_SUB, /* dec is decoded as the subtraction of an immediate 1 */
	INSN_OP_SHL,
	INSN_OP_SHR,  /* logical shift */
	INSN_OP_TEST, /* an AND whose result goes to the flags only */
	INSN_OP_CMP,  /* a subtraction whose result goes to the flags only */
	INSN_OP_BT,   /* src is the number of a bit in dst */
	INSN_OP_BTS,  /* src is the number of a bit in dst */
	INSN_OP_BTR,  /* src is the number of a bit in dst */
	INSN_OP_BTC,  /* src is the number of a bit in dst */
	INSN_OP_CMOV,
	INSN_OP_SET,  /* dst becomes 0 or 1 */
	INSN_OP_LEA,  /* dst = src + imm if src is a register; if src is INSN_OPERAND_NONE, imm is only the displacement */
	INSN_OP_PUSH, /* src is pushed */
	INSN_OP_POP,  /* dst is popped */
	INSN_OP_JUMP,
	INSN_OP_JCC, /* a jump by the flags or by RCX (jrcxz, loop) */
	INSN_OP_CALL,
	INSN_OP_RET,
	INSN_OP_STOP, /* execution does not continue after this instruction: int3, ud1 */
	INSN_OP_NOP,  /* nop, pause, and ud2: Linux continues after the ud2 of a WARN_ON() */
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
	uint64_t imm;	 /* the value of an immediate src, sign-extended from the size of dst */
	uint64_t target; /* the GVA of the target of a direct jump or call; 0 if the branch is indirect */
	/*
	 * One bit for each enum x86_gpr that the instruction reads or writes. The sets may be too large, but never too small,
	 * with one exception: they leave out RSP for push, pop, call and return.
	 */
	uint16_t reads, writes;
	/* The registers in `reads` that are used for more than the address of a memory operand or of lea. */
	uint16_t data;
};

/*
 * Decode as insn_decode() does, and fill in all of *out, also on failure. Returns the instruction's length in bytes, or 0 on
 * failure.
 */
unsigned insn_op_decode(struct insn_decoder *dec, const uint8_t *code, size_t len, uint64_t addr, struct insn_op *out);

/*
 * Kinds of instructions by what they do to memory. Two instructions of the same kind, other than INSN_COMMUTES_NOT, have the
 * same effect in either order. Two instructions of different kinds do not.
 */
enum insn_commuting { INSN_COMMUTES_NOT, INSN_COMMUTES_ADD, INSN_COMMUTES_OR, INSN_COMMUTES_AND, INSN_COMMUTES_XOR };

/*
 * Returns the kind of a locked instruction that only adds to memory (LOCK ADD, SUB, INC, DEC) or changes bits of it (LOCK OR,
 * AND, XOR; SDM vol. 2). The flags that it sets may still depend on the order. Returns INSN_COMMUTES_NOT for any other
 * instruction.
 */
enum insn_commuting insn_op_commutes(const struct insn_op *op);

#endif

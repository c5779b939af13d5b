/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each instruction does to its operands, indexed by Capstone's instruction number (SDM vol. 2, APM vol. 3). Capstone 4
 * gets the read and write bits of some operands wrong. So the decoder takes only the operands from Capstone, and what the
 * instruction does to them from this table. Private to symbols/insn.
 */
#ifndef OUTRIDER_SYMBOLS_INSN_FACTS_H
#define OUTRIDER_SYMBOLS_INSN_FACTS_H

#include <stdint.h>

/*
 * Operands are counted in Intel's order. The instruction reads a memory operand in the second or a later place, and does not
 * write it; only xchg also writes it. F_FIRST_READ and F_FIRST_WRITE say what the instruction does to a memory operand in the
 * first place. If neither bit is set, the access is unknown, and the decoder marks the instruction INSN_INDIRECT, so that it is
 * never sampled.
 */
enum insn_fact {
	F_FIRST_READ = 1 << 0,	/* a memory operand in the first place is read */
	F_FIRST_WRITE = 1 << 1, /* a memory operand in the first place is written */
	F_NO_ACCESS = 1 << 2,	/* the memory operand is named but not accessed */
	F_OPAQUE = 1 << 3,	/* the instruction accesses memory that its operand does not describe */
	F_BIT_STRING = 1 << 4,	/* bt, bts, btr, btc: a bit number in a register can address memory outside the operand */
	F_BRANCH = 1 << 5,	/* sets INSN_BRANCH */
	F_CALL = 1 << 6,	/* sets INSN_CALL */
	F_RET = 1 << 7,		/* sets INSN_RET */
	F_STACK = 1 << 8,	/* the instruction accesses an implicit stack slot */
	F_REG_READ = 1 << 9,	/* a register in the first place is only read; without this bit, the register is written */
	F_REG2_WRITE = 1 << 10, /* a register in the second place is written too */
	F_RAX_WRITE = 1 << 11,	/* RAX is written, but Capstone does not list it */
};

/* Returns the enum insn_fact bits of instruction `id` (Capstone's enum x86_insn), or 0 if the table has no such entry. */
uint16_t insn_facts(unsigned id);

#endif

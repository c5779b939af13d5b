/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each instruction does to its operands, by Capstone's instruction number (SDM vol. 2, APM vol. 3). Capstone's own access
 * information is wrong in places. So Capstone is only asked what the operands are, and this table says what is done to them.
 * Private to symbols/insn.
 */
#ifndef OUTRIDER_SYMBOLS_INSN_FACTS_H
#define OUTRIDER_SYMBOLS_INSN_FACTS_H

#include <stdint.h>

/*
 * Operands are counted in Intel's order. A memory operand behind the first place is read; xchg is the one exception. What
 * happens to a memory operand in the first place is F_FIRST_READ, F_FIRST_WRITE or both. Where the table says neither, the
 * operand is one that we do not understand, and the instruction is never sampled.
 */
enum insn_fact {
	F_FIRST_READ = 1 << 0,	/* a memory operand in the first place is read */
	F_FIRST_WRITE = 1 << 1, /* a memory operand in the first place is written */
	F_NO_ACCESS = 1 << 2,	/* the memory operand is named but not accessed */
	F_OPAQUE = 1 << 3,	/* the instruction accesses memory that its operand does not describe */
	F_BIT_STRING = 1 << 4,	/* bt and its like: a bit number in a register reaches beyond the operand */
	F_BRANCH = 1 << 5,	/* sets INSN_BRANCH */
	F_CALL = 1 << 6,	/* sets INSN_CALL */
	F_RET = 1 << 7,		/* sets INSN_RET */
	F_STACK = 1 << 8,	/* the instruction accesses an implicit stack slot */
	F_REG_READ = 1 << 9,	/* a register in the first place is only read; without this it is written */
	F_REG2_WRITE = 1 << 10, /* a register in the second place is written too */
	F_RAX_WRITE = 1 << 11,	/* RAX is written, which Capstone does not say */
};

/* The enum insn_fact bits of instruction number `id` (Capstone's enum x86_insn); 0 for one that is not in the table. */
uint16_t insn_facts(unsigned id);

#endif

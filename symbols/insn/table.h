/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each instruction does to memory, by Capstone's instruction number. Capstone's own access information is wrong in
 * places, so only its operands are used; what is done to them is said here (SDM vol. 2, APM vol. 3).
 */
#ifndef OUTRIDER_SYMBOLS_INSN_TABLE_H
#define OUTRIDER_SYMBOLS_INSN_TABLE_H

#include <stdint.h>

/*
 * A memory operand that is not the first one (Intel order) is read; xchg is the one exception. A first one is what the table
 * says: an instruction that says neither read nor write has an operand we do not understand, and it is never sampled.
 */
enum insn_fact {
	F_FIRST_READ = 1 << 0,	/* a memory operand in first place is read */
	F_FIRST_WRITE = 1 << 1, /* ... is written */
	F_NO_ACCESS = 1 << 2,	/* names memory it does not access */
	F_OPAQUE = 1 << 3,	/* accesses memory that its operand does not describe */
	F_BIT_STRING = 1 << 4,	/* bt and its like: a register index reaches beyond the operand */
	F_BRANCH = 1 << 5,
	F_CALL = 1 << 6,
	F_RET = 1 << 7,
	F_STACK = 1 << 8,	/* accesses an implicit stack slot */
	F_REG_READ = 1 << 9,	/* a register in first place is only read */
	F_RAX_WRITE = 1 << 11,	/* writes RAX, which Capstone does not say */
	F_REG2_WRITE = 1 << 10, /* a register in second place is written too */
};

/* Facts of instruction number `id` (enum x86_insn); 0 for one that is not in the table. */
uint16_t insn_facts(unsigned id);

#endif

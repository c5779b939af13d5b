/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds how far a CPU can run from an instruction on before a recording has to look at it again. A breakpoint at the end of
 * such a stride replaces a single step for each of its instructions.
 */
#ifndef OUTRIDER_EXPLORE_STRIDE_H
#define OUTRIDER_EXPLORE_STRIDE_H

#include "symbols/insn/insn.h"

/* The code in which strides are. */
struct stride_code {
	/* Returns the instruction at `pc`, valid until the next call, or NULL if it cannot be decoded. */
	const struct insn *(*insn)(void *ctx, uint64_t pc);
	/* Returns whether a stride must end before this instruction, which is not a branch. */
	bool (*is_wanted)(void *ctx, const struct insn *insn);
	void *ctx;
};

/*
 * Find the stride that begins with `insn`, before which a CPU has the registers `regs`. It goes through jumps whose target is
 * known: direct ones, and a conditional jump as the first instruction, which the flags decide (SDM vol. 2, Jcc). It ends before
 * all other branches, such as calls and returns, and before what code->is_wanted() wants. Returns the number of its
 * instructions and sets *end to the address after them, or returns 0 if a single step goes as far.
 */
unsigned stride_find(const struct stride_code *code, const struct insn *insn, const struct x86_regs *regs, uint64_t *end);

#endif

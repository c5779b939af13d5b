/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stride is a sequence of instructions that a CPU can execute before a recording has to look at the CPU again. This code
 * finds strides. A breakpoint at the end of a stride replaces a single step for each of its instructions.
 */
#ifndef OUTRIDER_EXPLORE_STRIDE_H
#define OUTRIDER_EXPLORE_STRIDE_H

#include "symbols/insn/insn.h"

/* The code in which strides are looked for. */
struct stride_code {
	/* Returns the instruction at `pc`, valid until the next call, or NULL if it cannot be decoded. */
	const struct insn *(*insn)(void *ctx, uint64_t pc);
	/*
	 * Returns whether a stride must end before this instruction. Not called for an instruction whose successor is unknown,
	 * which ends a stride anyway.
	 */
	bool (*is_wanted)(void *ctx, const struct insn *insn);
	void *ctx;
};

/*
 * Find the stride that begins with `insn`. `regs` are the CPU's registers before `insn`. The stride goes on through direct
 * jumps. If `insn` itself is a conditional jump, the flags in `regs` decide where the stride goes on (SDM vol. 2, Jcc). The
 * stride ends before all other branches, such as calls and returns, and before instructions for which code->is_wanted() returns
 * true. Returns the number of its instructions and sets *end to the address where it ends, or returns 0 if `insn` is to be
 * single-stepped.
 */
unsigned stride_find(const struct stride_code *code, const struct insn *insn, const struct x86_regs *regs, uint64_t *end);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* LOCKed additions, such as those of atomic_inc() and refcount_inc(). */
#ifndef OUTRIDER_SYMBOLS_INSN_COUNT_H
#define OUTRIDER_SYMBOLS_INSN_COUNT_H

#include "symbols/insn/insn.h"

/*
 * Returns whether the instruction is a LOCKed addition to memory of 4 or 8 bytes: inc, xadd, or add with a constant above 0
 * (SDM vol. 2). An xadd may add a negative number.
 */
bool insn_may_count_up(const struct insn *insn);

/*
 * Returns whether the instruction, for which insn_may_count_up() is true, adds a number above 0 with these registers. Called
 * for hits: does not allocate, lock or read guest memory.
 */
bool insn_counts_up(const struct insn *insn, const struct x86_regs *regs);

/*
 * Returns whether the LOCKed instruction, which has just run on a CPU that has these registers now, has made its memory operand
 * 0: inc, dec, add, sub, xadd, and, or or xor (ZF is set), or cmpxchg that stored 0. False for any other instruction.
 */
bool insn_left_zero(const struct insn *insn, const struct x86_regs *regs);

#endif

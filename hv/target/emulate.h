/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carrying out one instruction in the place of a stopped CPU, so that a breakpoint on it never has to be lifted. This is the
 * one place that says which instructions can be.
 */
#ifndef OUTRIDER_TARGET_EMULATE_H
#define OUTRIDER_TARGET_EMULATE_H

#include <stdbool.h>

#include "hv/base/x86.h"
#include "hv/target/target.h"
#include "symbols/insn/insn.h"

/*
 * Whether target_emulate() can carry out this instruction in kernel mode. These are, without prefixes other than a REX.B of the
 * push and a REX before the last two (SDM vol. 2):
 *
 *   push r64	50+r, 41 50+r
 *   ret	c3
 *   jmp	eb rel8, e9 rel32
 *   call	e8 rel32
 *   test	84 /r, 85 /r of two registers
 *   mov	89 /r, 8b /r of two registers
 *   mov	c6 07 00, which clears the byte at RDI: what gives a spinlock back where that is inlined
 *
 * All but the last read and write general registers, RIP and the stack only. None faults but by memory that is not there. Only
 * test changes flags: the arithmetic ones, as a function of its operands. A write
 * that is carried out here trips no watchpoint. A direct call is the push of an address that is known and a jump. An indirect
 * call or jump is not among them, because with indirect branch tracking it also changes a state of the CPU that cannot be set
 * from outside. The guest's kernel must not use supervisor shadow stacks, onto which a call would push too; Linux does not.
 */
bool target_can_emulate(const struct insn *insn);

/*
 * Carry out `insn`, before which a CPU with these registers is stopped: change *regs and the guest's stack as the CPU would.
 * The caller must have asked target_can_emulate(). Returns 0, or -1 with *regs as it was when the memory cannot be read or
 * written: then the guest must execute the instruction itself, and its own page fault says why. Any thread, with the CPU
 * stopped.
 */
int target_emulate(struct target *t, const struct insn *insn, struct x86_regs *regs);

#endif

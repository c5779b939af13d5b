/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emulates one instruction for a stopped CPU, so that a breakpoint on the instruction never has to be removed. Only this
 * component decides which instructions can be emulated.
 */
#ifndef OUTRIDER_TARGET_EMULATE_H
#define OUTRIDER_TARGET_EMULATE_H

#include <stdbool.h>

#include "hv/base/x86.h"
#include "hv/target/target.h"
#include "symbols/insn/insn.h"

/*
 * Returns true if target_emulate() can emulate this instruction in kernel mode. The instructions below can be emulated, if they
 * have no prefix. A push may have REX.B, and test and mov of two registers may have a REX (SDM vol. 2):
 *
 *   push r64	50+r, 41 50+r
 *   ret	c3
 *   jmp	eb rel8, e9 rel32
 *   call	e8 rel32
 *   test	84 /r, 85 /r of two registers
 *   mov	89 /r, 8b /r of two registers
 *   sub	48 83 /5 ib, 48 81 /5 id of a constant from a 64-bit register, and the same with REX.B
 *   mov	c6 07 00, which clears the byte at RDI: an inlined spinlock release
 *
 * All of them except the last access only general registers, RIP and the stack. These instructions fault only if their memory
 * is unmapped. Only test and sub change flags: they set the arithmetic flags from their operands. An emulated write hits no
 * watchpoint. A direct call is emulated as a push and a jump. Indirect calls and jumps cannot be emulated: with indirect branch
 * tracking they also change CPU state that cannot be set from outside. The guest's kernel must not use supervisor shadow
 * stacks, onto which a call would push, too; Linux does not use them.
 */
bool target_can_emulate(const struct insn *insn);

/*
 * Emulate `insn` for a CPU that is stopped before it with these registers: change *regs and the guest's stack as the CPU would.
 * target_can_emulate() must have returned true. Returns 0. Returns -1, with *regs unchanged, if memory cannot be read or
 * written: the guest must then execute the instruction itself and take its page fault. May be called on any thread while the
 * CPU is stopped.
 */
int target_emulate(struct target *t, const struct insn *insn, struct x86_regs *regs);

#endif

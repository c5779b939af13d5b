/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carrying out one access to memory in the place of a stopped CPU, so that the CPU passes a breakpoint that must stay. This is
 * the one place that says which accesses can be.
 */
#ifndef OUTRIDER_TARGET_EMULATE_ACCESS_H
#define OUTRIDER_TARGET_EMULATE_ACCESS_H

#include "hv/base/x86.h"
#include "hv/target/target.h"
#include "symbols/insn/insn.h"

/*
 * Carry out `insn`, before which a CPU with these registers is stopped in kernel mode: change *regs and the guest's memory as
 * the CPU would. Returns 0. Returns -1 with both as they were when this cannot be done, and the CPU must execute the
 * instruction itself. Any thread, with the CPU stopped. Nothing is allocated.
 *
 * What can be done are the plain accesses of which compiled code is nearly all (SDM vol. 2), with one operand in memory and the
 * other a general register or an immediate:
 *
 *   mov, movzx, movsx, movsxd
 *   add, or, adc, sbb, and, sub, xor, cmp, test, inc, dec	without LOCK
 *
 * The memory must be the kernel's, on one page, RAM, and mapped such that the CPU would neither fault nor change the page
 * tables. An aligned access is one load or one store, and what is read, changed and written takes a load and a store, as on a
 * CPU without LOCK. A CPU that single-steps (RFLAGS.TF) does it itself, for its trap.
 *
 * Such an access trips no watchpoint: neither the target's, of which the caller must take care, nor the guest's own.
 */
int target_emulate_access(struct target *t, const struct insn *insn, struct x86_regs *regs);

#endif

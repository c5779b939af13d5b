/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emulates one memory access for a stopped CPU, so that the CPU gets past a breakpoint that stays planted. Only this component
 * decides which accesses can be emulated.
 */
#ifndef OUTRIDER_TARGET_EMULATE_ACCESS_H
#define OUTRIDER_TARGET_EMULATE_ACCESS_H

#include "hv/base/x86.h"
#include "hv/target/target.h"
#include "symbols/insn/insn.h"

/*
 * Emulate `insn` for a CPU that is stopped before it in kernel mode with these registers: change *regs and guest memory as the
 * CPU would. Returns 0. Returns -1, with nothing changed, if the access cannot be emulated; the CPU must then execute the
 * instruction itself. May be called on any thread while the CPU is stopped. Does not allocate.
 *
 * These instructions are emulated, with one operand in memory and the other a general register or an immediate (SDM vol. 2).
 * They make up nearly all accesses of compiled code:
 *
 *   mov, movzx, movsx, movsxd
 *   add, or, adc, sbb, and, sub, xor, cmp, test, inc, dec	without LOCK
 *
 * The memory must be the kernel's, on one page, RAM, and mapped such that the CPU would neither fault nor change the page
 * tables. An aligned access is one load or one store. A read-modify-write is a load and a store: like a CPU that executes the
 * instruction without LOCK, this code does not make the two atomic. An instruction that the CPU single-steps (RFLAGS.TF) is not
 * emulated, because the CPU must take the trap after it.
 *
 * An emulated access hits no watchpoint: neither the target's, which the caller must check for, nor the guest's own.
 */
int target_emulate_access(struct target *t, const struct insn *insn, struct x86_regs *regs);

#endif

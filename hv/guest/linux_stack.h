/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the kernel's stacks: of tasks, of interrupts and of exceptions. */
#ifndef OUTRIDER_GUEST_LINUX_STACK_H
#define OUTRIDER_GUEST_LINUX_STACK_H

#include "hv/guest/guest.h"
#include "hv/guest/linux_layout.h"

/* Locate the kernel's stacks. Requires the kernel's symbols. */
void linux_find_stacks(struct guest *g);

/*
 * Find the stack that contains `gva`. The candidates are the stacks of the CPU with these registers: the stack of the CPU's
 * current task, the interrupt stack and the exception stacks. Returns false if none of them contains `gva`.
 */
bool linux_stack_at(const struct guest *g, const struct x86_regs *regs, uint64_t gva, struct text_range *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_GUEST_LINUX_STACK_H
#define OUTRIDER_GUEST_LINUX_STACK_H

#include "hv/guest/guest.h"
#include "hv/guest/linux_layout.h"

/* Look up where the kernel's stacks are, once its symbols are known. */
void linux_find_stacks(struct guest *g);

/*
 * The stack that contains `gva`, among those that the CPU with these registers may be on: its task's, its interrupt stack and
 * its exception stacks. False: none of them contains it.
 */
bool linux_stack_at(const struct guest *g, const struct x86_regs *regs, uint64_t gva, struct text_range *out);

#endif

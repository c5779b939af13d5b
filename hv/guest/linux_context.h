/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_GUEST_LINUX_CONTEXT_H
#define OUTRIDER_GUEST_LINUX_CONTEXT_H

struct guest;

/* Locate the CPU's current task and preemption count. Requires the kernel's symbols. */
void linux_find_context(struct guest *g);

#endif

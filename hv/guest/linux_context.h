/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds how the kernel records which context runs on a CPU: the current task and the preemption count. */
#ifndef OUTRIDER_GUEST_LINUX_CONTEXT_H
#define OUTRIDER_GUEST_LINUX_CONTEXT_H

struct guest;

/* Locate the CPU's current task and preemption count. Requires the kernel's symbols. */
void linux_find_context(struct guest *g);

#endif

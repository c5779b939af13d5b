/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_GUEST_LINUX_CONTEXT_H
#define OUTRIDER_GUEST_LINUX_CONTEXT_H

struct guest;

/* Look up where a CPU's current task and its preemption count are, once the kernel's symbols are known. */
void linux_find_context(struct guest *g);

#endif

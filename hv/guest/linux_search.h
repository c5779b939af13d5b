/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Searches guest memory for the Linux kernel, and finds its symbols, its slide and its build id. */
#ifndef OUTRIDER_GUEST_LINUX_SEARCH_H
#define OUTRIDER_GUEST_LINUX_SEARCH_H

#include "hv/guest/guest.h"

/* Start of the CPU entry area, where the final IDT is mapped read-only for all CPUs. */
#define LINUX_FINAL_IDT 0xfffffe0000000000ull

/*
 * Search for the kernel while CPU 0 is in the state `regs`: its symbols, slide and banner. Returns 1 if it is found, and 0 if
 * it is not there yet. Returns -1 with `err` set if there is no usable kernel, or the user's symbols belong to another kernel
 * and the guest's own tables are unusable.
 */
int linux_search(struct guest *g, const struct x86_regs *regs, struct err *err);

/*
 * Returns true if the next poll should try to read the kernel again, because this poll could not read it with CPU 0 in the
 * state `regs`, although the kernel may be there. With page-table isolation, almost nothing of the kernel is mapped while the
 * CPU is in user mode or in the first instructions after user mode. Also, the guest runs on during the poll: when the process
 * that ran on CPU 0 ends, the kernel frees the page tables that the poll uses. So a failed read is an error only after ten
 * failed polls in kernel mode.
 */
bool linux_may_be_hidden(struct guest *g, const struct x86_regs *regs);

/* Read the kernel's build id into g->build_id. */
void linux_find_build_id(struct guest *g);

#endif

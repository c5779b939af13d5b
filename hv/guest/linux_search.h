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
 * Returns true if the kernel may be there although this poll, with CPU 0 in the state `regs`, could not read it, so that the
 * next poll should try again. With page-table isolation, almost nothing of the kernel is mapped while the CPU is in user mode
 * or just leaves it. And the guest runs on during the poll: when the process that ran on CPU 0 ends, its page tables are freed.
 * So what cannot be read is no error until ten polls in kernel mode have failed.
 */
bool linux_may_be_hidden(struct guest *g, const struct x86_regs *regs);

/* Read the kernel's build id into g->build_id. */
void linux_find_build_id(struct guest *g);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
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

/* Read the kernel's build id into g->build_id. */
void linux_find_build_id(struct guest *g);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_GUEST_LINUX_SEARCH_H
#define OUTRIDER_GUEST_LINUX_SEARCH_H

#include "hv/guest/guest.h"

/* The start of the CPU entry area, where the IDT is mapped read-only for all CPUs once it is final. */
#define LINUX_FINAL_IDT 0xfffffe0000000000ull

/*
 * Look for the kernel with CPU 0 in the state `regs`: its symbols, its slide and its banner. Returns 1 when it is found and 0
 * when it is not there yet. Returns -1 with `err` set when there is no kernel that could be used, or when the symbols that the
 * user gave are another kernel's and the guest's own tables cannot take their place.
 */
int linux_search(struct guest *g, const struct x86_regs *regs, struct err *err);

/* Read the kernel's build id into g->build_id. */
void linux_find_build_id(struct guest *g);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells which parts of the tasks' stacks nothing uses, so that pointers in them are left from calls that have returned. */
#ifndef OUTRIDER_GUEST_LINUX_UNUSED_STACKS_H
#define OUTRIDER_GUEST_LINUX_UNUSED_STACKS_H

#include <stdint.h>

#include "hv/guest/guest.h"

/*
 * Enter in unused[pfn], for each page of a stack, how many bytes from the page's start nothing uses. Call it while the guest
 * stands still. Two kinds of stacks get no entry, because it is not known what they use: the stack of a running task, if no
 * CPU's stack pointer is in it (but see roots->empty_stacks), and the stack of a thread that is not its process's first one.
 * `unused` has `pages` entries; pages from this number on get none. No stack gets an entry if the layout of the kernel's
 * structures is unknown, if the current task of a CPU is unknown, or if memory runs out.
 */
void linux_find_unused_stacks(const struct guest *g, const struct guest_roots *roots, uint16_t *unused, uint64_t pages);

#endif

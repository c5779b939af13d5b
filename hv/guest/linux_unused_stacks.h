/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells which parts of the tasks' stacks nothing uses, so that pointers in them are left from calls that have returned. */
#ifndef OUTRIDER_GUEST_LINUX_UNUSED_STACKS_H
#define OUTRIDER_GUEST_LINUX_UNUSED_STACKS_H

#include <stdint.h>

#include "hv/guest/guest.h"

/*
 * Enter in unused[pfn], for each page of a stack, how many bytes from the page's start nothing uses. Call it while the guest
 * stands still. Pages of stacks of which nothing is known are left alone: those of the tasks that run, if no CPU's stack
 * pointer is in them (but see roots->empty_stacks), and of threads other than their process's first. Page frames from `pages`
 * on are left out. Nothing is entered if the layout of the kernel's structures is unknown, or a CPU's task, or if memory runs
 * out.
 */
void linux_find_unused_stacks(const struct guest *g, const struct guest_roots *roots, uint16_t *unused, uint64_t pages);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the areas of the kernel's address space, to tell later what a kernel address belongs to. */
#ifndef OUTRIDER_GUEST_LINUX_MEMORY_H
#define OUTRIDER_GUEST_LINUX_MEMORY_H

struct guest;

/* Locate the areas of kernel memory and the structures that describe them. Requires the kernel's symbols. */
void linux_find_memory(struct guest *g);

#endif

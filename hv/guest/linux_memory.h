/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_GUEST_LINUX_MEMORY_H
#define OUTRIDER_GUEST_LINUX_MEMORY_H

struct guest;

/* Look up by what one kind of memory is told from another, once the kernel's symbols are known. */
void linux_find_memory(struct guest *g);

#endif

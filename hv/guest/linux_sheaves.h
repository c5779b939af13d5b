/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the sheaves of slab caches (mm/slub.c since Linux 6.18): arrays of pointers to free objects. Each CPU has some of them,
 * and each NUMA node keeps others in its barn.
 */
#ifndef OUTRIDER_GUEST_LINUX_SHEAVES_H
#define OUTRIDER_GUEST_LINUX_SHEAVES_H

#include <stdint.h>

#include "hv/guest/guest.h"
#include "hv/guest/linux_slabs.h"

/* Find the layout of sheaves in the kernel's types. g->memory.cache.sheaf.count has size 0 if it is unknown. */
void linux_find_sheaves(struct guest *g);

/*
 * Mark as free all objects to which the sheaves of all caches point. Mark each sheaf as reached (linux_slabs.h), so that the
 * search for lost objects does not look for pointers in it: the array of a sheaf keeps pointers to objects that were allocated
 * from the sheaf. Call it after linux_slabs_read(). Returns 0, also if the layout is unknown or there are no sheaves; or -1 if
 * a sheaf is invalid, or memory runs out.
 */
int linux_mark_sheaves(struct linux_slabs *s, const struct guest *g);

#endif

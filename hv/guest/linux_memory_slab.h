/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_GUEST_LINUX_MEMORY_SLAB_H
#define OUTRIDER_GUEST_LINUX_MEMORY_SLAB_H

#include "hv/guest/guest.h"

/* Find the layout of struct kmem_cache. */
void linux_find_caches(struct guest *g);

/*
 * Describe the slab object at `gva`, an address in the direct map, for an access of `size` bytes. `head` is the first page of
 * the slab. Returns false and leaves *out alone if the slab's metadata is invalid.
 */
bool linux_slab_at(const struct guest *g, const struct guest_page *head, uint64_t gva, uint32_t size, struct guest_memory *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_GUEST_LINUX_MEMORY_SLAB_H
#define OUTRIDER_GUEST_LINUX_MEMORY_SLAB_H

#include "hv/guest/guest.h"

/* Look up the layout of struct kmem_cache. */
void linux_find_caches(struct guest *g);

/*
 * Fill in the slab object at `gva`, an address in the direct map, for an access of `size` bytes. `head` is the first page of
 * the slab that contains it. False: it is no slab after all, and *out is as it was.
 */
bool linux_slab_at(const struct guest *g, const struct guest_page *head, uint64_t gva, uint32_t size, struct guest_memory *out);

#endif

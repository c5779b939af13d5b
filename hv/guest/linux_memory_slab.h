/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the slab object at a kernel address, with its cache and its type. */
#ifndef OUTRIDER_GUEST_LINUX_MEMORY_SLAB_H
#define OUTRIDER_GUEST_LINUX_MEMORY_SLAB_H

#include "hv/guest/guest.h"

/* A slab: pages that hold objects of one cache at equal distances. */
struct linux_slab {
	uint64_t start;				/* GVA of the first page, in the direct map */
	uint64_t cache;				/* GVA of its struct kmem_cache */
	uint32_t stride, object_size, left_pad; /* bytes */
	uint32_t objects;
};

/* Find the layout of struct kmem_cache. */
void linux_find_caches(struct guest *g);

/* Read what the kernel knows about the slab whose first page is `head`. Returns 0, or -1 if the slab's metadata is invalid. */
int linux_slab_layout(const struct guest *g, const struct guest_page *head, struct linux_slab *out);

/*
 * Describe the slab object at `gva`, an address in the direct map, for an access of `size` bytes. `head` is the first page of
 * the slab. Returns false and leaves *out alone if the slab's metadata is invalid.
 */
bool linux_slab_at(const struct guest *g, const struct guest_page *head, uint64_t gva, uint32_t size, struct guest_memory *out);

#endif

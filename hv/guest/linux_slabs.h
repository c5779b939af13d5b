/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists the slabs of the guest's RAM, and tells which of their objects are free (SLUB, mm/slub.c). Free objects are on a list
 * of the slab, or on a list of the CPU that allocates from the slab. For those in sheaves, see linux_sheaves.h.
 */
#ifndef OUTRIDER_GUEST_LINUX_SLABS_H
#define OUTRIDER_GUEST_LINUX_SLABS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/guest/guest.h"
#include "hv/guest/linux_memory_slab.h"

/*
 * Maximum number of page frames up to the end of the guest's RAM: 4 GiB. If RAM has a hole of 1 GiB below 4 GiB, this limit
 * allows 3 GiB of RAM. This and the next two numbers bound the time and the memory that a hostile guest can cost.
 */
#define LINUX_SLABS_PAGES_MAX (UINT64_C(1) << 20)

/* Maximum number of objects in all slabs, and of the CPUs' lists of free objects (one for each cache and CPU). */
#define LINUX_SLABS_OBJECTS_MAX (UINT64_C(1) << 24)
#define LINUX_SLABS_LISTS_MAX (UINT64_C(1) << 20)

/* No slab contains the page, or the slab that contains it is not understood. */
#define LINUX_NO_SLAB UINT32_MAX

/* A slab, and what is known about its objects. */
struct linux_known_slab {
	struct linux_slab in;
	size_t first; /* index of the first object's state */
	bool odd;     /* its list of free objects is not understood, so which objects are in use is unknown */
};

/* States of an object, as bits. */
enum linux_object_state {
	LINUX_OBJECT_FREE = 1,
	LINUX_OBJECT_REACHED = 2, /* set by linux_reach.c */
	LINUX_OBJECT_DROPPED = 4, /* set by linux_heap.c */
};

struct linux_slabs {
	uint64_t pages; /* number of page frames up to the end of RAM (max_pfn) */
	uint32_t *of;	/* for each page: index of its slab, or LINUX_NO_SLAB */
	/* For each page: how many bytes from the page's start nothing uses. A pointer in these bytes does not count. */
	uint16_t *unused;
	struct linux_known_slab *slab;
	size_t count;
	uint8_t *state; /* for each object: enum linux_object_state */
	size_t objects;
	struct guest_object twice; /* is on lists of free objects twice; gva 0: none was seen. Valid if reading fails, too. */
};

/*
 * Read all slabs. Call it while the guest stands still. Reads every struct page, so it takes some milliseconds for each 256 MiB
 * of RAM. The pages of an odd slab then have no slab in `of`, so that whatever they point to is reached. Returns 0; or -1 if
 * the layout of the kernel's structures is unknown, a CPU's list of free objects cannot be followed, one of the limits above is
 * exceeded, or memory runs out. Also enters free pages in `unused`. linux_slabs_free() may follow in either case.
 */
int linux_slabs_read(struct linux_slabs *s, const struct guest *g);
void linux_slabs_free(struct linux_slabs *s);

/*
 * Mark the object that begins at the GVA `object` as free. Returns 0, also if the GVA is in no slab. Returns -1 if no object
 * begins there. If the object was marked before, returns -1, too, and sets s->twice unless it is set already.
 */
int linux_slabs_mark_free(struct linux_slabs *s, const struct guest *g, uint64_t object);

/* Returns a list of all caches that have slabs, which the caller frees, or NULL if memory runs out. */
uint64_t *linux_slabs_caches(const struct linux_slabs *s, size_t *count);

/*
 * Find the object that contains the GVA. Returns its slab and sets *object to its number in the slab, or returns NULL if the
 * GVA is in no object.
 */
const struct linux_known_slab *linux_slabs_at(const struct linux_slabs *s, const struct guest *g, uint64_t gva,
					      uint32_t *object);

#endif

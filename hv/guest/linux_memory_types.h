/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_GUEST_LINUX_MEMORY_TYPES_H
#define OUTRIDER_GUEST_LINUX_MEMORY_TYPES_H

/* The struct that each object of a slab cache contains. */
struct linux_cache_type {
	/* Name of the struct. The kernel may lack it. */
	const char *type;
	/* Last member of the struct, which objects may contain only in part. NULL: objects are complete. */
	const char *tail;
};

/* Returns the struct for the cache with this name. A cache that is not in the list may be named after its struct. */
struct linux_cache_type linux_cache_type(const char *cache);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the struct that the objects of a slab cache contain, by the name of the cache. */
#ifndef OUTRIDER_GUEST_LINUX_MEMORY_TYPES_H
#define OUTRIDER_GUEST_LINUX_MEMORY_TYPES_H

/* The struct that each object of a slab cache contains. */
struct linux_cache_type {
	/* Name of the struct. The kernel may lack it. */
	const char *type;
	/* Last member of the struct, if objects may end within this member. NULL: each object contains the whole struct. */
	const char *tail;
};

/* Returns the struct for the cache with this name. A cache that is not in the list may be named after its struct. */
struct linux_cache_type linux_cache_type(const char *cache);

#endif

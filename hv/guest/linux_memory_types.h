/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_GUEST_LINUX_MEMORY_TYPES_H
#define OUTRIDER_GUEST_LINUX_MEMORY_TYPES_H

/* The struct that the objects of a slab cache are. */
struct linux_cache_type {
	/* The name of the struct. The kernel need not have one of that name. */
	const char *type;
	/* The struct's last member, of which objects may have only a part. NULL: objects are whole. */
	const char *tail;
};

/* The type of the objects of the cache of this name. A cache that the list does not have may be called by its type's name. */
struct linux_cache_type linux_cache_type(const char *cache);

#endif

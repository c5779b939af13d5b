/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the name of a slab cache tells about an object in it. SLUB merges caches of like objects (find_mergeable() in
 * mm/slab_common.c), and a merged cache keeps the name of its first user. So the name of a merged cache says nothing about an
 * object in it. The names of the kmalloc caches tell only a size.
 */
#ifndef OUTRIDER_RACE_SLAB_NAME_H
#define OUTRIDER_RACE_SLAB_NAME_H

#include "hv/race/facts.h"

#define SLAB_NAME_MAX 160 /* bytes of the texts below, including the NUL */

/* Returns true if all objects of the cache are known to have one type: it is no kmalloc cache and not merged. */
bool slab_has_one_type(const struct guest_memory *m);

/*
 * Write the first part of a datum's name, without blanks. If the cache is not merged: its name, as "dentry" or "kmalloc-64". If
 * the cache is merged: "kmalloc-or-alias-" and the size of its objects in bytes, as "kmalloc-or-alias-256", or only
 * "kmalloc-or-alias" if the object was not found. If it is unknown whether the cache is merged: its name with a question mark,
 * as "pool_workqueue?". Writes "" if the cache has no name.
 */
void slab_name(const struct guest_memory *m, char out[SLAB_NAME_MAX]);

/*
 * Write the cache for people: "dentry", "kmalloc-64", "kmalloc-or-alias of 256 bytes, merged (first user pool_workqueue)",
 * "pool_workqueue (may be merged)". Writes "" if the cache has no name.
 */
void slab_phrase(const struct guest_memory *m, char out[SLAB_NAME_MAX]);

#endif

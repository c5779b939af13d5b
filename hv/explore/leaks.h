/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the slab objects that are lost after a trial, so that nothing points to them any more (guest_lost_objects()), with
 * those after the serial orders. More of them show a memory leak, for example because both programs allocated an object and
 * kept only one of the pointers.
 */
#ifndef OUTRIDER_EXPLORE_LEAKS_H
#define OUTRIDER_EXPLORE_LEAKS_H

#include "hv/explore/facts.h"
#include "hv/explore/kernel.h"

/* The most objects that a run may lose, and the most caches that they may be of. With more, leaks are not judged. */
#define LEAKS_MAX 128

/* Objects that were lost in a run. */
struct lost {
	bool known;
	uint32_t count;
	struct lost_object {
		struct guest_object in;
		uint64_t holds; /* the first address of a function or variable of the kernel that the object holds; 0: none */
	} object[LEAKS_MAX];
};

struct leaks {
	const struct guest *guest; /* NULL: leaks are not judged */
	/* Objects that count as lost in the base already, in the order of their addresses. */
	struct guest_object *before;
	size_t before_count;
	/* The most objects of each cache that a serial order lost. */
	struct leaks_cache {
		uint64_t cache;
		uint32_t most;
	} serial[LEAKS_MAX];
	unsigned count;
};

/* Look at the base. If this is not possible, leaks are not judged. `kernel` must outlive `l`. leaks_free() must follow. */
void leaks_find(struct leaks *l, const struct kernel *kernel);
void leaks_free(struct leaks *l);

/* Find what a copy has lost that has run in this process. Takes some 100 ms for each 256 MiB of RAM. */
void leaks_read(const struct leaks *l, struct lost *out);

/* Add what a run of a serial order lost. */
void leaks_add_serial(struct leaks *l, const struct lost *lost);

/* Returns whether more objects of a cache were lost than in any serial order, and sets *out to the first such cache. */
bool leaks_differ(const struct leaks *l, const struct lost *lost, struct explore_leak *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the slab objects that are lost after a trial, so that nothing points to them any more (guest_lost_objects()), with
 * those after the serial orders. More of them show a memory leak, for example because both programs allocated an object and
 * kept only one of the pointers. An object that is on lists of free objects twice was freed twice, or
 * something has written to a free object.
 */
#ifndef OUTRIDER_EXPLORE_LEAKS_H
#define OUTRIDER_EXPLORE_LEAKS_H

#include "hv/explore/facts.h"
#include "hv/explore/kernel.h"

/* Leaks are judged if a run loses fewer objects than this, and if all runs of serial orders lose objects of no more caches. */
#define LEAKS_MAX 128

/* Objects that were lost in a run, or freed twice. */
struct lost {
	uint8_t known; /* 1: the list is complete */
	uint32_t count;
	struct lost_object {
		struct guest_object in;
		char cache[EXPLORE_CACHE_MAX]; /* name; "": unknown */
		uint64_t holds; /* the first address of a function or variable of the kernel that the object holds; 0: none */
	} object[LEAKS_MAX];
	struct lost_object twice; /* in.gva 0: none was freed twice, or it is unknown */
};

struct leaks {
	const struct guest *guest; /* NULL: leaks are not judged */
	/*
	 * Objects that are lost in the base already. In a copy, they count as pointed to, and so does all that they point to.
	 * What only the stack of a task points to that runs in the base counts as lost in the base: the task may return soon.
	 */
	struct guest_object *before;
	size_t before_count;
	/*
	 * The most objects of each cache that a serial order lost. Caches are told by their names and the sizes of their
	 * objects: a cache that a program makes may be at another address in each run.
	 */
	struct leaks_cache {
		char name[EXPLORE_CACHE_MAX];
		uint32_t size;
		uint32_t most;
	} serial[LEAKS_MAX];
	unsigned count;
};

/* Look at the base. If this is not possible, leaks are not judged. `kernel` must outlive `l`. leaks_free() must follow. */
void leaks_find(struct leaks *l, const struct kernel *kernel);
void leaks_free(struct leaks *l);

/*
 * Find what the copy that has run in this process has lost. `regs` are the registers of its `cpus` CPUs. Takes some 100 ms for
 * each 256 MiB of RAM.
 */
void leaks_read(const struct leaks *l, const struct x86_regs *regs, size_t cpus, struct lost *out);

/*
 * Add what a run of a serial order lost. If it is unknown, or an object was freed twice, nothing is judged any more: sets
 * l->guest to NULL.
 */
void leaks_add_serial(struct leaks *l, const struct lost *lost);

/*
 * Returns whether there is a cache of which more objects are in `lost` than any serial order lost, and so are in `again`, if
 * that is not NULL. Sets *out to the first such cache, with the smaller count of both.
 */
bool leaks_differ(const struct leaks *l, const struct lost *lost, const struct lost *again, struct explore_object *out);

/* Returns whether a run lost more objects of the leak's cache than any serial order, or may have. */
bool leaks_explain(const struct lost *lost, const struct explore_object *leak);

/*
 * Returns whether an object was freed twice, and one of the same cache in `again`, if that is not NULL. Sets *out to the object
 * in `lost`.
 */
bool leaks_freed_twice(const struct leaks *l, const struct lost *lost, const struct lost *again, struct explore_object *out);

#endif

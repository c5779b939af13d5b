/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A slab object is lost if it is in use, but nothing points to it any more (guest_lost_objects()). This code compares the
 * objects that are lost after a trial with those that are lost after the serial orders. If a trial loses more objects, it leaks
 * memory, for example because both programs allocated an object and kept only one of the two pointers. An object that is on
 * lists of free objects twice was freed twice, or something has written to a free object.
 */
#ifndef OUTRIDER_EXPLORE_LEAKS_H
#define OUTRIDER_EXPLORE_LEAKS_H

#include "hv/explore/facts.h"
#include "hv/explore/kernel.h"

/*
 * Size of two lists: the objects that a run loses, and the caches of the objects that the serial orders lose. Leaks are judged
 * only if a run loses fewer objects than this, and if there are at most this many caches.
 */
#define LEAKS_MAX 128

/* Objects that were lost in a run, or freed twice. */
struct lost {
	uint8_t known; /* 1: the list is complete */
	uint32_t count;
	struct lost_object {
		struct guest_object in;
		char cache[EXPLORE_CACHE_MAX]; /* name; "": unknown */
		/* the first word of the object that is the address of a function or variable of the kernel; 0: none */
		uint64_t holds;
	} object[LEAKS_MAX];
	struct lost_object twice; /* an object that was freed twice; in.gva 0: there is none, or it is unknown */
};

struct leaks {
	const struct guest *guest; /* NULL: leaks are not judged */
	/*
	 * Objects that are lost in the base already. In a copy, these objects, and all objects to which they point, do not
	 * count as lost. An object to which only the stack of a running task points counts as lost in the base, because the
	 * task may return soon.
	 */
	struct guest_object *before;
	size_t before_count;
	/*
	 * For each cache, the largest number of objects that a serial order lost. A cache is identified by its name and the
	 * size of its objects: a cache that a program makes may be at another address in each run.
	 */
	struct leaks_cache {
		char name[EXPLORE_CACHE_MAX];
		uint32_t size;
		uint32_t most;
	} serial[LEAKS_MAX];
	unsigned count;
};

/*
 * Find the objects that are lost in the base. If they cannot be found, leaks are not judged (guest is NULL). `kernel` must
 * outlive `l`. leaks_free() must follow.
 */
void leaks_find(struct leaks *l, const struct kernel *kernel);
void leaks_free(struct leaks *l);

/*
 * Find what the copy that has run in this process has lost. `regs` are the registers of its `cpus` CPUs. Takes some 100 ms for
 * each 256 MiB of RAM.
 */
void leaks_read(const struct leaks *l, const struct x86_regs *regs, size_t cpus, struct lost *out);

/*
 * Add the objects that a run of a serial order lost. Sets l->guest to NULL, so that nothing is judged any more, if it is
 * unknown what the run lost, if the run freed an object twice, or if `serial` has no room.
 */
void leaks_add_serial(struct leaks *l, const struct lost *lost);

/*
 * Returns whether the run `lost` lost more objects of some cache than any serial order and, unless `again` is NULL, the run
 * `again` did so, too. Sets *out to the first such cache, with the smaller count of the two runs.
 */
bool leaks_differ(const struct leaks *l, const struct lost *lost, const struct lost *again, struct explore_object *out);

/*
 * Returns whether the run `lost` may explain the leak of a trial: the run lost more objects of the leak's cache than any serial
 * order, or it is unknown what the run lost.
 */
bool leaks_explain(const struct lost *lost, const struct explore_object *leak);

/*
 * Returns whether the run `lost` freed an object twice and, unless `again` is NULL, the run `again` freed an object of the same
 * cache twice, too. Sets *out to the object in `lost`.
 */
bool leaks_freed_twice(const struct leaks *l, const struct lost *lost, const struct lost *again, struct explore_object *out);

#endif

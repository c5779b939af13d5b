/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The coverage of a run: for each site that ever carried a sample point, how often it was armed and hit, and the results. A
 * site is named as in reports (site.h). So it stays the same site when its module is loaded again at another address, and in
 * other runs.
 *
 * The sampler's thread finds and adds sites. A site's counts do not move until coverage_free(), so a sample point can keep a
 * pointer to them, and counting a hit needs no lookup and no memory. A caller that changes counts must hold the counts' lock,
 * which it has passed to coverage_new(). coverage_size() and coverage_function() may be called on any thread. They take that
 * lock, so the caller must not hold it.
 */
#ifndef OUTRIDER_RACE_COVERAGE_H
#define OUTRIDER_RACE_COVERAGE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/race/site.h"

struct coverage_counts {
	/* Number of times that a sample point was armed at the site. */
	uint32_t armed;
	/* Number of times that a CPU stopped at a sample point at the site. */
	uint32_t hits;
	/* Number of windows opened when a CPU stopped at the site. */
	uint32_t windows;
	/* Number of conflicts seen with the access that the stopped CPU was about to make. */
	uint32_t conflicts;
	/* Number of hits that touched memory which another CPU had touched lately, with at least one write. */
	uint32_t talks;
};

struct coverage_site {
	/* Offset from the start of the function, in bytes. */
	uint32_t offset;
	struct coverage_counts counts;
};

/* A copy of the coverage of one function. */
struct coverage_function {
	/* "function" for the kernel or "module:function", as in site names. */
	char name[SITE_NAME_MAX];
	/*
	 * Number of sites in the function's code. If several functions have this name: the largest of their numbers, but at
	 * least the number of armed sites.
	 */
	uint32_t sites;
	/*
	 * The function's sites that were ever armed, sorted by offset. `count`: number of entries. `room`: number of entries
	 * for which the array has memory.
	 */
	struct coverage_site *armed;
	size_t count, room;
};

struct coverage;

/* `counts_lock` must outlive the coverage. Returns NULL if memory runs out. */
struct coverage *coverage_new(pthread_mutex_t *counts_lock);

/* `c` may be NULL. */
void coverage_free(struct coverage *c);

/*
 * Returns the counts of the site at this GVA, or NULL if no site was added there, or the address was forgotten. Sampler's
 * thread only.
 */
struct coverage_counts *coverage_find(const struct coverage *c, uint64_t gva);

/*
 * Add the site `offset` bytes into function `function`, at GVA `gva`, and return its counts. The counts are zero if the site's
 * name is new. Call it only after coverage_find() has returned NULL for the GVA. `sites` is the number of sites in the
 * function. Returns NULL if memory runs out or the table is full (4 million sites). Sampler's thread only.
 */
struct coverage_counts *coverage_add(struct coverage *c, uint64_t gva, const char *function, uint32_t offset, uint32_t sites);

/* Forget the addresses of all sites in the `size` bytes from GVA `start`: their module was unloaded. Sampler's thread only. */
void coverage_forget(struct coverage *c, uint64_t start, uint64_t size);

struct coverage_size {
	/* Number of functions with a site that was ever armed, and number of such sites. */
	size_t functions, sites;
};

/* Returns the current size of the coverage. Any thread. */
struct coverage_size coverage_size(struct coverage *c);

/*
 * Copy function `index` with its armed sites into *out. `size` is the result of the latest call of coverage_size(), on whatever
 * thread; functions and sites that were first armed after that call are left out. Functions are numbered from 0 in the order in
 * which coverage_size() first found an armed site in them. Before the first call, the caller sets out->room to 0 and out->armed
 * to NULL. Later calls reuse the array out->armed, which the caller frees at the end. Returns 1, or 0 if there is no such
 * function, or -1 if memory runs out. Any thread.
 */
int coverage_function(struct coverage *c, const struct coverage_size *size, size_t index, struct coverage_function *out);

#endif

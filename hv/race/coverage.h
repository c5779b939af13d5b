/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was sampled: for each site that ever carried a sample point, how often it did and what came of it. A site has the name
 * that reports give it (site.h), so it is the same site when its module is loaded again at another address, and in other runs.
 *
 * The sampler's thread finds and adds sites. The counts of a site stay where they are until coverage_free(), so a point can
 * keep a pointer to them, and a hit counts without a search and without memory. Whoever counts holds the counts' lock, which is
 * the caller's and is handed to coverage_new(). coverage_function() may be called on any thread, without that lock.
 */
#ifndef OUTRIDER_RACE_COVERAGE_H
#define OUTRIDER_RACE_COVERAGE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/race/site.h"

struct coverage_counts {
	/* Times that a sample point was planted at the site. */
	uint32_t armed;
	/* Times that a CPU stopped at such a point. */
	uint32_t hits;
	/* Windows that were opened at such a stop. */
	uint32_t windows;
	/* Conflicts that were seen with the access that such a stop was about to make. */
	uint32_t conflicts;
};

struct coverage_site {
	/* From the start of the function, in bytes. */
	uint32_t offset;
	struct coverage_counts counts;
};

/* A copy of what is known of a function. */
struct coverage_function {
	/* "function" of the kernel or "module:function", as in the names of its sites. */
	char name[SITE_NAME_MAX];
	/*
	 * How many sites it has. Where several functions have this name, the largest of their numbers, but never fewer than
	 * were armed.
	 */
	uint32_t sites;
	/* Those of the sites that were ever armed, `count` of them, in the order of their offsets. There is room for `room`. */
	struct coverage_site *armed;
	size_t count, room;
};

struct coverage;

/* `counts_lock` must outlive the coverage. NULL: memory ran out. */
struct coverage *coverage_new(pthread_mutex_t *counts_lock);

/* NULL is allowed. */
void coverage_free(struct coverage *c);

/* The counts of the site at this GVA. NULL: no site was added there, or it was forgotten. The sampler's thread only. */
struct coverage_counts *coverage_find(const struct coverage *c, uint64_t gva);

/*
 * The counts of the site `offset` bytes into the function of that name, which is at this GVA now. They are zero when the site
 * is new. coverage_find() gave NULL for the GVA. `sites` is how many sites the function has. NULL: memory ran out, or there are
 * too many sites. The sampler's thread only.
 */
struct coverage_counts *coverage_add(struct coverage *c, uint64_t gva, const char *function, uint32_t offset, uint32_t sites);

/* No site is in the `size` bytes from this GVA on any more, because a module has gone. The sampler's thread only. */
void coverage_forget(struct coverage *c, uint64_t start, uint64_t size);

struct coverage_size {
	/* How many functions have a site that was ever armed, and how many such sites there are. */
	size_t functions, sites;
};

/* Any thread. */
struct coverage_size coverage_size(struct coverage *c);

/*
 * Copy function `index` of those that there were when `size` was taken, with the sites that were armed by then, into *out,
 * whose `armed` and `room` are of the call before, or NULL and 0; the caller frees `armed` at last. `size` is what
 * coverage_size() gave last, on whatever thread. Functions are numbered from 0 in the order in which they were seen to be
 * armed, and each has a site. Returns 1, or 0 when there are no more functions, or -1 when memory ran out. Any thread.
 */
int coverage_function(struct coverage *c, const struct coverage_size *size, size_t index, struct coverage_function *out);

#endif

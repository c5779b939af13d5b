/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rule that gives sites their weights: the expected number of new pairs of sites from a sample point at the site. It
 * counts coverage, and writes the file for --prefer.
 *
 * A sample point yields a new pair if a CPU passes it, the memory of the access can be watched, another CPU accesses that
 * memory in the window, and the pair was not seen before. Each of the four is a counted share. The site's own count is mixed
 * with that of its function, and the function's with the kernel's: a site without observations counts as an average site of
 * its function. docs/learning.md describes the rule in full.
 *
 * No locks: only one thread at a time may use a struct weights.
 */
#ifndef OUTRIDER_CAMPAIGN_LEARN_WEIGHTS_H
#define OUTRIDER_CAMPAIGN_LEARN_WEIGHTS_H

#include <stdint.h>

#include "hv/base/err.h"

struct weights;

/* Coverage of a site, summed over all runs; the members are those of hv/race/coverage.h. */
struct weights_site {
	const char *name; /* "module:function+0x1c", as in reports */
	uint64_t armed, hits, windows, conflicts;
};

/* NULL: out of memory. */
struct weights *weights_new(void);

/* NULL is allowed. */
void weights_free(struct weights *w);

/*
 * Add the coverage of a site. Several calls for a site add up. A name that is no site's is ignored. Returns 0, or -1 without
 * memory.
 */
int weights_add_site(struct weights *w, const struct weights_site *site);

/*
 * Add a pair of sites that raced, after all sites, and each pair once. `sampled` is the side that carried the sample point,
 * if that is known. Sites without a conflict are ignored.
 */
void weights_add_pair(struct weights *w, const char *sampled, const char *other);

/*
 * Write the file for the kernel with this build id (hexadecimal; "": any kernel), by way of a file that is renamed. Returns
 * 0, or -1 with err set and an existing file unchanged.
 */
int weights_write(struct weights *w, const char *build_id, const char *path, struct err *err);

#endif

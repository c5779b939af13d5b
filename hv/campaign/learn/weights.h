/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rule that gives sites their weights: a site's weight is the expected number of new pairs of racing sites from one sample
 * point at the site. These functions count coverage, and write the file for --prefer.
 *
 * A sample point yields a new pair if four conditions hold: a CPU passes the point, the memory of the access can be watched,
 * another CPU accesses that memory in the window, and the pair was not seen before. For each condition, these functions compute
 * the share of cases in which it held. They mix the share of a site with that of its function, and the share of the function
 * with that of the kernel, so a site without observations counts as an average site of its function. A site that talks is
 * expected to conflict as often as other sites that talk. docs/learning.md describes the rule in full.
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
	uint64_t armed, hits, windows, conflicts, talks;
};

/* Returns empty counts, or NULL if memory runs out. */
struct weights *weights_new(void);

/* Free the counts. `w` may be NULL. */
void weights_free(struct weights *w);

/*
 * Add the coverage of a site to its counts so far. Ignores a name that is not the name of a site. Returns 0, or -1 if memory
 * runs out.
 */
int weights_add_site(struct weights *w, const struct weights_site *site);

/*
 * Add a pair of sites that raced. Call it after all weights_add_site(), once for each pair. `sampled` is the side that carried
 * the sample point, if known. Ignores sites without a conflict.
 */
void weights_add_pair(struct weights *w, const char *sampled, const char *other);

/*
 * Write the file for the kernel with this build id (hexadecimal; "": any kernel), as a new file that replaces the old one by a
 * rename. Returns 0, or -1 with err set and an existing file unchanged.
 */
int weights_write(struct weights *w, const char *build_id, const char *path, struct err *err);

#endif

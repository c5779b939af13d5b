/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rule by which sites get weights: how many new pairs of sites a point at a site can be expected to yield, by what is known
 * of it, of its function and of the kernel. It is told what was seen, and writes the file of --prefer.
 *
 * A point yields a new pair when a CPU passes it, the access is to memory that can be watched, somebody else comes by in the
 * window, and this pair was not seen before. Each of these four is a share that was counted, and for each the site's own count
 * is mixed with its function's, and the function's with the kernel's: a site of which nothing is known is taken for one like
 * the others of its function. docs/learning.md has the rule in full.
 *
 * No locks: one thread at a time uses it.
 */
#ifndef OUTRIDER_CAMPAIGN_LEARN_WEIGHTS_H
#define OUTRIDER_CAMPAIGN_LEARN_WEIGHTS_H

#include <stdint.h>

#include "hv/base/err.h"

struct weights;

/* What was counted of a site, over all runs; the members of hv/race/coverage.h. */
struct weights_site {
	const char *name; /* "module:function+0x1c", as in reports */
	uint64_t armed, hits, windows, conflicts;
};

/* NULL: memory ran out. */
struct weights *weights_new(void);

/* NULL is allowed. */
void weights_free(struct weights *w);

/*
 * Add what was counted of a site. A site may be added several times, and the counts add up. A name that is no site's is left
 * out. Returns 0, or -1 when memory ran out.
 */
int weights_add_site(struct weights *w, const struct weights_site *site);

/*
 * Add a pair of sites that raced, once, after all sites were added. `sampled` is the one that carried the point, as far as that
 * is known. Sites without a conflict are left out.
 */
void weights_add_pair(struct weights *w, const char *sampled, const char *other);

/*
 * Write the file, for the kernel with this build id (hexadecimal, "" for any): under another name, which is then renamed.
 * Returns 0, or -1 with err set, and what was there stays.
 */
int weights_write(struct weights *w, const char *build_id, const char *path, struct err *err);

#endif

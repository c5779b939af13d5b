/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Orders the runs of a round that explore pairs of programs. A round with a budget may end before it has run all pairs, so the
 * most promising pairs come first.
 */
#ifndef OUTRIDER_CAMPAIGN_LEARN_PAIRS_H
#define OUTRIDER_CAMPAIGN_LEARN_PAIRS_H

#include <stddef.h>

#include "hv/base/err.h"
#include "hv/campaign/store/store.h"

struct learn_pair {
	const char *kernel; /* the kernel's name in the plan */
	struct store_programs programs;
};

/*
 * Store in order[0] to order[count - 1] the indices of the runs in `list`, in the order in which to run them. Every pair gets
 * its first run before any pair gets its second. The pairs come in three groups:
 *
 *   1. Pairs that no run of the campaign has explored in the last build of the kernel. Pairs whose programs share more memory
 *      with other programs come first. The measure of how much a program shares is the mean of store_explored_pair.own over the
 *      explored pairs with this program. A program without explored pairs is given the largest value of all programs.
 *   2. Pairs that have untried schedules.
 *   3. All other pairs.
 *
 * In the groups 2 and 3, pairs with fewer trials come first. Pairs that are equal in all this stay in the order of `list`.
 * Returns 0, or -1 with err set.
 */
int learn_pair_order(struct store *s, const char *campaign, const struct learn_pair *list, size_t count, size_t *order,
		     struct err *err);

#endif

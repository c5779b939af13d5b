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
 * its first run before any pair gets its second. The pairs come in three groups. First come pairs that no run of the campaign
 * has explored in the last build of the kernel. Of these, the pairs whose programs share most with other programs come first.
 * How much a program shares is the mean store_explored_pair.own of its explored pairs; a program without explored pairs counts
 * as the one that shares most. Second come pairs with schedules that were not tried, those with the fewest trials first. Third
 * come the other pairs. Otherwise the order of `list` stays. Returns 0, or -1 with err set.
 */
int learn_pair_order(struct store *s, const char *campaign, const struct learn_pair *list, size_t count, size_t *order,
		     struct err *err);

#endif

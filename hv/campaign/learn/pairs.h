/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Orders the runs of a round that explore pairs of programs. A round with a budget does not come to all pairs, so the pairs
 * that promise most come first.
 */
#ifndef OUTRIDER_CAMPAIGN_LEARN_PAIRS_H
#define OUTRIDER_CAMPAIGN_LEARN_PAIRS_H

#include <stddef.h>

#include "hv/base/err.h"
#include "hv/campaign/store/store.h"

struct learn_pair {
	const char *kernel; /* the plan's name of it */
	struct store_programs programs;
};

/*
 * Set order[0] to order[count - 1] to the indices of the runs in `list`, in the order in which to run them. Every pair gets its
 * first run before any pair gets its second. Pairs that no run of the campaign has explored in the kernel come first: among
 * them, those whose programs share most with the programs with which they were explored (store_explored_pair.own), where a
 * program that was not explored at all counts as the one that shares most. Then come pairs with schedules that were not tried,
 * those with the fewest trials first, and then the other pairs. Otherwise the order of `list` stays. Returns 0, or -1 with err
 * set.
 */
int learn_pair_order(struct store *s, const char *campaign, const struct learn_pair *list, size_t count, size_t *order,
		     struct err *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fills a round summary (summary.h) with the rounds, races and findings that a query selects in a store. */
#ifndef OUTRIDER_CAMPAIGN_LIST_FILL_H
#define OUTRIDER_CAMPAIGN_LIST_FILL_H

#include "hv/campaign/list/query.h"
#include "hv/campaign/list/summary.h"
#include "hv/campaign/store/store.h"

/*
 * Fill `m`, which must be all zero. `version` is Outrider's version. Returns 0; or -1 with EXIT_INPUT if a round does not
 * exist or the store cannot be read, with EXIT_USAGE if `against` is the selected round or `since` is not before it, or with
 * EXIT_INTERNAL if memory runs out. Call summary_free() in all cases.
 */
int summary_fill(struct summary *m, struct store *store, const struct summary_query *query, const char *version,
		 struct err *err);

#endif

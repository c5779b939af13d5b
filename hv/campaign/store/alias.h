/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Race aliases: which race each race is shown as. In a build without debug files a race can have no name for its datum, and
 * it is unknown which of the named races it is. If only one is possible, the race becomes its alias. docs/campaigns.md gives
 * the reasons. Only hv/campaign/store/ uses this header.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_ALIAS_H
#define OUTRIDER_CAMPAIGN_STORE_ALIAS_H

#include "hv/campaign/store/db.h"

/*
 * Compute the aliases of all races with these two sides again. The result depends only on the set of races, not on the order
 * in which they came. Call it in a transaction. 0, or -1 with err set.
 */
int alias_update(struct db *db, const char *sides, struct err *err);

#endif

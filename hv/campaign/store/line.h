/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Under which race a race is shown. Of a race whose datum has no name, as where a build has no debug files, it is not known
 * whether it is one of those with a name. If there is only one that it can be, it is taken for that one. docs/campaigns.md
 * argues it. Only hv/campaign/store/ uses this header.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_LINE_H
#define OUTRIDER_CAMPAIGN_STORE_LINE_H

#include "hv/campaign/store/db.h"

/*
 * Set the lines of all races with these two sides anew. What they become depends on which races there are, and on nothing else:
 * not on the order in which they came.
 */
int line_update(struct db *db, const char *sides, struct err *err);

#endif

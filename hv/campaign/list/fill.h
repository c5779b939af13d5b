/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fills a round summary from a store. */
#ifndef OUTRIDER_CAMPAIGN_LIST_FILL_H
#define OUTRIDER_CAMPAIGN_LIST_FILL_H

#include "hv/campaign/list/ask.h"
#include "hv/campaign/list/morning.h"
#include "hv/campaign/store/store.h"

/*
 * Fill `m`, which must be all zero. `version` is Outrider's version. Returns 0; or -1 with EXIT_INPUT if the round does not
 * exist or the store cannot be read, or with EXIT_INTERNAL if memory runs out. Call morning_free() in all cases.
 */
int morning_fill(struct morning *m, struct store *store, const struct morning_ask *ask, const char *version, struct err *err);

#endif

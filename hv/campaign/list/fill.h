/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of a morning, filled from a store. */
#ifndef OUTRIDER_CAMPAIGN_LIST_FILL_H
#define OUTRIDER_CAMPAIGN_LIST_FILL_H

#include "hv/campaign/list/ask.h"
#include "hv/campaign/list/morning.h"
#include "hv/campaign/store/store.h"

/*
 * Fill `m`, which must be all zero. `version` is that of outrider. Returns 0; -1 with EXIT_INPUT when there is no such round or
 * the store cannot be read; or -1 with EXIT_INTERNAL when memory ran out. morning_free() must follow in all cases.
 */
int morning_fill(struct morning *m, struct store *store, const struct morning_ask *ask, const char *version, struct err *err);

#endif

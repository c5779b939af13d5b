/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the store have in common. Only hv/campaign/store/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_STORE_INTERNAL_H
#define OUTRIDER_CAMPAIGN_STORE_INTERNAL_H

#include "hv/campaign/store/db.h"
#include "hv/campaign/store/store.h"
#include "hv/campaign/store/text.h"

struct store {
	struct db *db;
};

/* The time now, in milliseconds since 1970. */
int64_t store_now(void);

/*
 * Room for one more item at the end of a list, zeroed. `list` is a pointer to the list's pointer. NULL with err set: memory ran
 * out.
 */
void *store_grow(void *list, size_t *count, size_t item, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the store share. Only hv/campaign/store/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_STORE_INTERNAL_H
#define OUTRIDER_CAMPAIGN_STORE_INTERNAL_H

#include "hv/campaign/store/db.h"
#include "hv/campaign/store/store.h"
#include "hv/campaign/store/text.h"

struct store {
	struct db *db;
};

/* The time, in milliseconds since 1970 in UTC. */
int64_t store_now(void);

/*
 * Append a zeroed item of `item` bytes to a list, and return it. `list` is the address of the list's pointer, and *count
 * grows by 1. NULL with err set: out of memory.
 */
void *store_grow(void *list, size_t *count, size_t item, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a run's digest from a store, to be written to another store. Only hv/campaign/store/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_STORE_DIGEST_TAKE_H
#define OUTRIDER_CAMPAIGN_STORE_DIGEST_TAKE_H

#include "hv/campaign/store/digest.h"

/*
 * Read the digest of the run with this id, in a transaction of its own. The store is trusted no more than a file. 0, or -1
 * with err set.
 */
int digest_take(struct digest *d, struct store *from, int64_t run, struct err *err);

#endif

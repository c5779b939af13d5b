/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run's digest out of a store, for another store. Only hv/campaign/store/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_STORE_DIGEST_TAKE_H
#define OUTRIDER_CAMPAIGN_STORE_DIGEST_TAKE_H

#include "hv/campaign/store/digest.h"

/* Make the digest of the run with this id. What the store says is not trusted more than a file. */
int digest_take(struct digest *d, struct store *from, int64_t run, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a run's data from a store, to be written to another store. Only hv/campaign/store/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_STORE_RUN_DATA_FETCH_H
#define OUTRIDER_CAMPAIGN_STORE_RUN_DATA_FETCH_H

#include "hv/campaign/store/run_data.h"

/*
 * Read the data of the run with this id, in a transaction of its own. The store is trusted no more than a file. 0, or -1
 * with err set.
 */
int run_data_fetch(struct run_data *d, struct store *from, int64_t run, struct err *err);

#endif

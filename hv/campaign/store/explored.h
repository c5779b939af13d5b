/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runs of `outrider explore` tried. Only hv/campaign/store/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_STORE_EXPLORED_H
#define OUTRIDER_CAMPAIGN_STORE_EXPLORED_H

#include "hv/campaign/store/run_data.h"

/*
 * Read the result of a run of `outrider explore` (docs/explore.schema.json) at `path`: its findings become races and complaints
 * of `d`. Returns 0, or -1 with err set: EXIT_INPUT if the file is invalid.
 */
int explored_read(struct run_data *d, const char *path, struct err *err);

/* Write d->explored for the run with the id `run`. Does nothing if the run did not explore. Returns 0, or -1 with err set. */
int explored_write(struct db *db, const struct run_data *d, int64_t run, struct err *err);

/*
 * Read d->explored of the run with the id `run`. Leaves it unchanged if the run did not explore. Call it in a transaction.
 * Returns 0, or -1 with err set.
 */
int explored_fetch(struct run_data *d, struct store *from, int64_t run, struct err *err);

/* A trial's line in run_data_explored.data: both sites' names, the schedule, how far outrider forced it, and the outcome. */
#define EXPLORED_WORDS 5
#define EXPLORED_LINE "%s %s %s %s %s\n"

#endif

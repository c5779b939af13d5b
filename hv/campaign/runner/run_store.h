/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores runs. A run's files stay in its folder until they are in the store. So nothing is lost while the store is away, which
 * means that it cannot be opened or written, and the runner tries again later. Not thread-safe.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_RUN_STORE_H
#define OUTRIDER_CAMPAIGN_RUNNER_RUN_STORE_H

#include "hv/campaign/runner/job.h"

struct run_store {
	struct store *store;
	int64_t round;
	const char *shard;
};

/* Record in the store that the run begins. Returns 0; 1 if the store has the finished run already; or -1 with err set. */
int run_store_begin(const struct run_store *k, const struct job *j, struct err *err);

/* Store the quarantined attempts of a finished run, then the run. Returns 0, or -1 with err set. */
int run_store_end(const struct run_store *k, struct job *j, struct err *err);

/*
 * Quarantine the files of an unfinished attempt as FOLDER~N, so that the run can start again, and store the attempt as a run
 * with the key KEY~N. Does nothing if the folder has no report, no coverage and no console. Returns -1 with err set if the
 * folder cannot be renamed, else 0, even if the store is away.
 */
int run_store_quarantine(const struct run_store *k, struct job *j, struct err *err);

/* Store all quarantined attempts that are not in the store yet. Returns 0, or -1 with err set. */
int run_store_quarantined(const struct run_store *k, struct job *j, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs on their way into the store. What a run has left in its folder is there until the store has it, so nothing is lost when
 * the store is away: what could not be kept now is kept later. One thread.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_KEEP_H
#define OUTRIDER_CAMPAIGN_RUNNER_KEEP_H

#include "hv/campaign/runner/job.h"

struct keep {
	struct store *store;
	int64_t round;
	const char *shard;
};

/* Tell the store that the run begins. Returns 1 when the store has the run already, 0, or -1 with err set. */
int keep_begin(const struct keep *k, const struct job *j, struct err *err);

/* Bring a run that has ended into the store, and what earlier attempts of it have left. Returns 0, or -1 with err set. */
int keep_end(const struct keep *k, struct job *j, struct err *err);

/*
 * Set what an attempt has left aside that was not finished, so that the run can be started again, and bring it into the store
 * as a run of its own whose key is the run's with "~N" behind it. Returns 0 also when the store is away, or -1 with err set
 * when the folder cannot be set aside.
 */
int keep_aside(const struct keep *k, struct job *j, struct err *err);

/* Bring what was set aside earlier into the store, as far as it is not there. Returns 0, or -1 with err set. */
int keep_asides(const struct keep *k, struct job *j, struct err *err);

#endif

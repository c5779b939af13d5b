/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs one schedule in a copy of the base, in a process of its own. */
#ifndef OUTRIDER_EXPLORE_TRIAL_H
#define OUTRIDER_EXPLORE_TRIAL_H

#include "hv/base/err.h"
#include "hv/explore/base.h"
#include "hv/explore/ends.h"
#include "hv/explore/facts.h"
#include "hv/explore/leaks.h"
#include "hv/explore/returns.h"
#include "hv/replay/process.h"

/* What a trial looks at while it runs, and at its end. */
struct trial_looks {
	const struct ends *ends;
	const struct returns_site *returns;
	const struct leaks *leaks;
};

/* What a trial has seen of the things that struct trial_looks lists. */
struct trial_seen {
	uint64_t values[ENDS_MAX];   /* of shared memory at the end (ends.h) */
	struct returned returned[2]; /* of each side */
	struct lost lost;	     /* slab objects */
};

/*
 * The results of a trial's process, in memory that it shares with its parent. A guest ran in the process, so nothing in this
 * memory is trusted.
 */
struct trial_shared {
	struct explore_trial out;
	struct trial_seen seen; /* valid if the outcome is EXPLORE_SAME */
};

/* A trial whose process has been started. */
struct trial_process {
	struct process process;
	struct trial_shared *shared; /* NULL: no process was started */
	struct err err;		     /* why no process was started */
	uint64_t start;		     /* monotonic_ns() */
};

/*
 * Start a process that runs plan->schedule at the candidate `c`, which is NULL for a schedule without a candidate.
 * trial_finish() must follow. The arguments are not used any more once the function has returned.
 */
void trial_start(struct trial_process *p, const struct base *base, const struct explore_config *config,
		 const struct trial_looks *looks, const struct explore_candidate *c, const struct explore_trial *plan);

/*
 * Wait until the trial has ended. Sets forced, calls, status, machine, text, ns and outcome of `out`, the plan of
 * trial_start(). The outcome is never one that serial_judge() sets (serial.h). A trial that could not be run has the outcome
 * EXPLORE_FAILED. If the outcome is EXPLORE_SAME, sets *seen.
 */
void trial_finish(struct trial_process *p, struct explore_trial *out, struct trial_seen *seen);

#endif

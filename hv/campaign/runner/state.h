/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the runner share. No other component includes this header. */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_STATE_H
#define OUTRIDER_CAMPAIGN_RUNNER_STATE_H

#include <signal.h>

#include "hv/campaign/runner/job.h"
#include "hv/campaign/runner/keep.h"
#include "hv/campaign/runner/progress.h"
#include "hv/campaign/runner/runner.h"
#include "hv/campaign/runner/spool.h"

struct runner {
	const struct plan *plan;
	const struct runner_config *config;
	struct runner_result *result;
	struct store *store;
	struct keep keep;
	struct spool spool;
	struct cgroup_base groups;
	char round_uuid[STORE_UUID_MAX];
	uint64_t round_number;
	char shard[32]; /* "" or "I/N" */
	char *only;	/* NULL: all */
	struct plan_runs runs;
	struct job *jobs; /* one for each run that is meant */
	size_t job_count;
	unsigned cpus;		/* of this host */
	uint64_t begin_ns;	/* of this process's work, of monotonic_ns() */
	uint64_t deadline_ns;	/* when the budget is used up; UINT64_MAX: never */
	bool budget_over;	/* No run is started any more. */
	uint64_t store_ns;	/* when the store is tried again that was away; 0: it is there */
	uint64_t pause_ns;	/* how long before that it was tried last */
	sigset_t signals;	/* those that end a round */
	unsigned interruptions; /* how many of them came */
	struct progress progress;
};

/* ---- recover.c ---- */

/* Find out which runs of the round are done, and what killed runners have left of the others. Returns 0, or -1 with err set. */
int runner_recover(struct runner *r, struct err *err);

/* ---- schedule.c ---- */

/* Run all jobs that are not done. Returns 0, or -1 with err set when the round cannot go on. */
int runner_schedule(struct runner *r, struct err *err);

/* ---- taught.c ---- */

/* Write the file `prefer.json` of the job from what the store knows. Returns its name, or NULL when nothing is known. */
const char *runner_teach(const struct runner *r, const struct job *j);

#endif

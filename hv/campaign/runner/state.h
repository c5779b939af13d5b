/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State that the files of the runner share. Only hv/campaign/runner/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_STATE_H
#define OUTRIDER_CAMPAIGN_RUNNER_STATE_H

#include <signal.h>

#include "hv/campaign/runner/job.h"
#include "hv/campaign/runner/run_store.h"
#include "hv/campaign/runner/progress.h"
#include "hv/campaign/runner/runner.h"
#include "hv/campaign/runner/spool.h"

struct runner {
	const struct plan *plan;
	const struct runner_config *config;
	struct runner_result *result;
	struct store *store;
	struct run_store run_store;
	struct spool spool;
	struct cgroup_base groups;
	char round_uuid[STORE_UUID_MAX];
	uint64_t round_number;
	char shard[32]; /* "" or "I/N" */
	char *only;	/* NULL: all runs */
	struct plan_runs runs;
	struct job *jobs; /* the runs of this shard */
	size_t job_count;
	unsigned cpus;	      /* number of CPUs of this host */
	uint64_t begin_ns;    /* monotonic_ns() at the start of this process's work */
	uint64_t deadline_ns; /* monotonic_ns() when the budget is used up; UINT64_MAX: never */
	bool budget_over;     /* The budget is used up: no further run is started. */
	uint64_t store_ns;    /* monotonic_ns() of the next attempt to reach a store that is away; 0: the store is reachable */
	uint64_t pause_ns;    /* nanoseconds to wait after the last attempt to reach the store, before the next one */
	sigset_t signals;     /* signals that end the round, and SIGCHLD */
	unsigned interruptions; /* number of received signals that ask the round to end */
	struct progress progress;
};

/* ---- recover.c ---- */

/* Mark the runs of the round that are done, and store what killed runners left. Returns 0, or -1 with err set. */
int runner_recover(struct runner *r, struct err *err);

/* ---- schedule.c ---- */

/* Run all jobs that are not done. Returns 0, or -1 with err set if the round cannot continue. */
int runner_schedule(struct runner *r, struct err *err);

#endif

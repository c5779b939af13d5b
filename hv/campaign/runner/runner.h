/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The runner of a campaign. It runs the runs of a round as child processes, several at once, each with limits. It records how
 * each run ended, and writes its results to the store. A guest that panics or hangs, and an Outrider that crashes, are
 * findings. Findings are kept with everything that is needed to repeat them, and are no errors of the campaign.
 *
 * Each run has a folder in the spool, `SPOOL/ROUND-UUID/RUN-UUID/`, with
 *
 *     command        the command that repeats the run, quoted for a shell
 *     races.json     the run's report, valid at every moment
 *     coverage.json  the run's coverage
 *     prefer.json    the weights for the run's --prefer
 *     console.log    the guest's console
 *     tried.txt      trials that `outrider explore` leaves out
 *     stdout.log     output of Outrider; for a pair of programs, the result of `outrider explore`
 *     stderr.log     messages of Outrider; locked while any process of the run lives
 *     status         how the run ended, written at its end
 *
 * When the runner is killed, its runs are killed, too, and their files stay. With `resume`, the next runner first ends
 * processes that are left. Then it stores the files: a run with a `status` as a finished run, an unfinished run as an attempt
 * with "~N" appended to its key (N = 1, 2, ...). Then it starts the unfinished runs again. If a foreign process kills a run,
 * the runner does the same at once for this run.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_RUNNER_H
#define OUTRIDER_CAMPAIGN_RUNNER_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/campaign/plan/plan.h"
#include "hv/campaign/store/store.h"

struct runner_config {
	const char *store;	/* the store: a file, or a URL of PostgreSQL */
	const char *program;	/* path of this program, for plans without an <emulator> */
	unsigned jobs;		/* number of parallel runs; 0: the plan's number, or as many as the host's CPUs allow */
	bool overcommit;	/* Parallel runs may have more vCPUs in total than the host has CPUs. */
	const char *only;	/* see plan_is_selected(); NULL: all runs */
	unsigned shard, shards; /* number of this shard, from 1, and of all shards; 0: the matrix is not split */
	uint64_t round;		/* number of the round, the same for all its shards; 0: the next number */
	bool resume;		/* Continue the last round that has not ended. */
	bool quiet;		/* Print only errors, and no progress. */
};

struct runner_result {
	uint64_t round; /* number of the round; 0: `resume` was set, and there was no round to continue */
	char round_uuid[STORE_UUID_MAX];
	char shard[32]; /* "" or "I/N" */
	/* Numbers of runs of this shard. `planned` is the number of all; the next three members count them by their result. */
	unsigned planned;
	unsigned done;	   /* in the store */
	unsigned skipped;  /* not run, or not finished, because the budget was used up or a signal came */
	unsigned unstored; /* finished, but could not be stored */
	int signal;	   /* the signal that ended the round early, or 0 */
	/* Runs that this process ran, and that ended other than ok as far as the runner sees. For the progress line only. */
	unsigned broke;
};

/*
 * Run a round. SIGINT, SIGTERM and SIGHUP ask the runs to end, and a second signal kills them. The calling process must be
 * single-threaded. Returns 0 with *result set, even if runs failed or a signal came, or -1 with err set.
 */
int runner_run(const struct plan *plan, const struct runner_config *config, struct runner_result *result, struct err *err);

#endif

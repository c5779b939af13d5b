/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The runner of a campaign: it starts the runs of a round as child processes, each with limits, several at once, notes how each
 * ended, and hands to the store what each found. A guest that panics or hangs and an outrider that crashes are findings, which
 * are kept with all that is needed to repeat them. They are never an error of the campaign.
 *
 * Each run has a folder in the spool, `SPOOL/ROUND-UUID/RUN-UUID/`, with
 *
 *     command        the command that repeats the run, quoted for a shell
 *     races.json     the run's report, valid at every moment
 *     coverage.json  what the run has sampled
 *     prefer.json    what it was told to prefer
 *     console.log    the guest's console
 *     stdout.log     what outrider has said, and stderr.log, which is locked as long as any process of the run lives
 *     status         how the run ended, written when it has
 *
 * A SIGKILL of the runner ends its runs, and what they had written by then stays there. With `resume`, the next runner sees to
 * it that no process of them is left, and brings what their folders have into the store: a run that has a status as what it is,
 * and another one as a run of its own, with "~1" behind the key. Then it starts again what had not ended. It does the same, at
 * once, with a run that somebody kills.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_RUNNER_H
#define OUTRIDER_CAMPAIGN_RUNNER_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/campaign/plan/plan.h"

struct runner_config {
	const char *store;	/* The store: a file or a URL of PostgreSQL. */
	const char *program;	/* This program, for plans without an <emulator>. */
	unsigned jobs;		/* Runs at once. 0: as the plan says, or as many as the host's CPUs carry. */
	bool overcommit;	/* Runs at once may have more vCPUs than the host has CPUs. */
	const char *only;	/* See plan_is_meant(). NULL: all. */
	unsigned shard, shards; /* This shard, from 1, of how many. 0: the matrix is not split. */
	uint64_t round;		/* The number of the round. 0: one more than the last one has. Shards of one round have one. */
	bool resume;		/* Go on with the last round that was not finished. */
	bool quiet;		/* Say nothing but errors, and no progress. */
};

struct runner_result {
	uint64_t round; /* Its number. 0: with `resume`, no round was to be gone on with. */
	/* Runs: all that were meant, and what became of them. */
	unsigned planned;
	unsigned done;	   /* They are in the store. */
	unsigned skipped;  /* They were not run, or not to their end, as the budget was used up or a signal came. */
	unsigned unstored; /* They have ended, and the store could not take them. */
	/* How those of this process ended, other than well. */
	unsigned findings; /* With a panic, hang, lockup or crash. */
	unsigned limits;   /* At one of their limits. */
	unsigned failed;   /* They could not run. */
	/* Of the round. */
	uint64_t hits, races;
	uint64_t fresh, fresh_harmful, fresh_unclear; /* Races that no earlier round had, or that were said to be fixed. */
	int signal;				      /* The signal that has ended the round before its end, or 0. */
};

/*
 * Run a round. SIGINT, SIGTERM and SIGHUP ask the runs to end properly, and a second one ends them at once. The calling process
 * must have one thread only. Returns 0 with *result set also when runs failed or a signal came, or -1 with err set.
 */
int runner_run(const struct plan *plan, const struct runner_config *config, struct runner_result *result, struct err *err);

#endif

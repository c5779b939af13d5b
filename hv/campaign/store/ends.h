/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How runs end, and the one definition of a run that is ok, that broke, and that failed. Every command and format that counts
 * runs or findings uses these functions, so that `campaign run`, show, diff, status, the mail and JSON agree.
 *
 *   ok      the run ended as its configuration asks, and left a finished report with at least one hit
 *   broke   the run ended with a finding: a panic, hang, lockup, crash or complaint, or it exceeded a limit
 *   failed  the run gave no answer: it could not run, left no report or a truncated one, or sampled nothing
 *
 * A run can both break and fail, as when outrider crashes before it has written its report. A run that has not ended is none of
 * these. Pure functions. Any thread.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_ENDS_H
#define OUTRIDER_CAMPAIGN_STORE_ENDS_H

#include <stdbool.h>
#include <stdint.h>

enum store_outcome {
	STORE_OK,     /* The run ended as its configuration asks. */
	STORE_PANIC,  /* The guest's kernel panicked, or the guest died. */
	STORE_HANG,   /* The guest's heartbeat stopped. */
	STORE_LOCKUP, /* The guest's kernel reported a lockup, a stall or a hung task. */
	STORE_CRASH,  /* Outrider itself died. */
	STORE_LIMIT,  /* The run exceeded a limit. */
	STORE_FAILED, /* The run could not start, for example because a file is missing. */
	/* The run ended as its configuration asks, but its report does not say which races the kernel has: */
	STORE_NO_REPORT, /* it left no report; */
	STORE_TRUNCATED, /* its report is of an unfinished run; */
	STORE_UNSAMPLED, /* it sampled nothing: its report has no hit, or no window. */
	/*
	 * One more outcome of runs that broke, added in a later version. Stores contain the numbers of outcomes, so new
	 * outcomes come last.
	 */
	STORE_COMPLAINT, /* The guest's kernel complained otherwise: an oops, BUG, warning, corrupt list... */
	STORE_OUTCOMES,
};

/* Returns the word of an outcome: "ok", "panic", ... */
const char *store_outcome_word(enum store_outcome outcome);
/* Returns the outcome with that word, or -1 if there is none. */
int store_outcome_from_word(const char *word);

/*
 * Returns true for an outcome of runs that broke. An entry of store_findings() whose kind is the word of such an outcome is a
 * finding.
 */
bool ends_is_finding(enum store_outcome outcome);

/*
 * Returns whether `a` is more serious than `b`. The most serious finding of a run is its outcome. The order is, from the least
 * serious: STORE_OK, STORE_LIMIT, STORE_FAILED, STORE_COMPLAINT, STORE_LOCKUP, STORE_HANG, STORE_PANIC, STORE_CRASH. The other
 * outcomes are as serious as STORE_OK.
 */
bool ends_is_worse(enum store_outcome a, enum store_outcome b);

/*
 * Returns true for an outcome of runs that failed. An entry of store_findings() whose kind is the word of such an outcome says
 * why a run failed.
 */
bool ends_is_failure(enum store_outcome outcome);

/* Numbers of the runs of a round that have ended, by how they ended. All zero: none has ended. */
struct store_ends {
	uint64_t ended, ok, broke, failed;
	uint64_t limited;		     /* number of runs that exceeded a limit; they are also counted in `broke` */
	uint64_t of_outcome[STORE_OUTCOMES]; /* number of ended runs with each outcome; each run is counted once */
	uint64_t of_failure[STORE_OUTCOMES]; /* the failed runs, by the reason */
};

/*
 * Count one run that has ended. `failure` is the first failure in the run's list of findings, or STORE_OK if there is none. A
 * run without a hit sampled nothing, whatever its outcome is.
 */
void ends_count(struct store_ends *ends, enum store_outcome outcome, enum store_outcome failure, uint64_t hits);

/* Add `more` to `ends`. */
void ends_add(struct store_ends *ends, const struct store_ends *more);

#endif

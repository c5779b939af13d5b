/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The gate of a round: whether the round is complete, so that its results can be judged at all, and which results make a
 * command fail. `campaign run`, show, diff, status, the mail and JSON all use it; docs/campaigns.md has the table. ends.h
 * defines how a run ends. Pure functions. Any thread.
 */
#ifndef OUTRIDER_CAMPAIGN_LIST_GATE_H
#define OUTRIDER_CAMPAIGN_LIST_GATE_H

#include <stdio.h>

#include "hv/campaign/list/summary.h"

/* The words of --fail-on and of <failure on='...'/>. */
enum gate_what {
	GATE_NEW_HARMFUL, /* a harmful candidate that needs attention (summary_is_worse()) */
	GATE_NEW_UNCLEAR, /* a harmful candidate, unclear or unjudged race that needs attention */
	GATE_ANY_NEW,	  /* a race of any class that needs attention */
	GATE_NEW_FINDING, /* a finding that no earlier round has */
	GATE_FINDING,	  /* a finding */
	GATE_LIMIT,	  /* a run that exceeded a limit */
	GATE_COMPLAINT,	  /* a finding of a guest's kernel: a complaint, lockup or panic */
	GATE_WHATS,
};

/* Returns the word for `what`, such as "new-harmful". */
const char *gate_word(enum gate_what what);

/*
 * How many runs of a round have a result that a gate can judge. A run that failed (ends.h) has none. Only GATE_COMPLETE can
 * pass a gate.
 */
enum gate_state {
	GATE_COMPLETE,	 /* "complete": every run that ended gave a finished report with windows */
	GATE_PARTLY,	 /* "partly failed": some runs failed (ends.h) */
	GATE_FAILED,	 /* "failed": no run gave an answer */
	GATE_UNFINISHED, /* "unfinished": the round is not over, or was interrupted */
	GATE_STATES,
};

/*
 * gate_state() returns the state of a round whose runs ended as `ends` says; `unfinished`: the round has not ended.
 * gate_state_word() returns the word of a state, such as "complete".
 */
enum gate_state gate_state(const struct store_ends *ends, bool unfinished);
const char *gate_state_word(enum gate_state state);

/* Returns the number of results (races, findings or runs) of the round that match `what`. */
size_t gate_count(const struct summary *m, enum gate_what what);

/*
 * Returns whether the round passes a gate: it is complete, and nothing matches a bit of `asked` (1 << enum gate_what).
 * `asked` 0 asks only for a complete round.
 */
bool gate_passes(const struct summary *m, unsigned asked);

/*
 * Write one sentence without a full stop, on one line, that says why the round is not complete (enum gate_state). Writes
 * nothing if the round is complete.
 */
void gate_put_state(FILE *out, const struct summary *m);

/* Write one sentence without a full stop, on one line, that says how many results match `what`. */
void gate_put_count(FILE *out, const struct summary *m, enum gate_what what);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The members of a race history. Only hv/campaign/list/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_LIST_RACE_HISTORY_PARTS_H
#define OUTRIDER_CAMPAIGN_LIST_RACE_HISTORY_PARTS_H

#include <jansson.h>
#include <stdio.h>

#include "hv/campaign/list/summary.h"

struct race_history {
	struct summary m;		 /* a summary of this race only; owns all strings */
	const struct summary_race *race; /* in `m` */
	uint64_t seen, runs, rounds;
	const char *first, *last; /* start times of the first and the last round that saw the race */
	struct store_race_rounds in_rounds;
	struct race_history_triage {
		enum store_triage state;
		const char *note, *who, *mended, *at;
	} * triage;
	size_t triage_count;
	/*
	 * The race in the latest report, or the object of sections_json() if race->atomicity is set. NULL: the store has no
	 * record.
	 */
	json_t *record;
};

/* Write "12 times in 4 runs of 2 rounds". */
void race_history_seen_put(FILE *out, const struct race_history *s);

#endif

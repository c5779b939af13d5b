/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The members of a race history. Only hv/campaign/list/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_LIST_RACE_HISTORY_PARTS_H
#define OUTRIDER_CAMPAIGN_LIST_RACE_HISTORY_PARTS_H

#include <jansson.h>

#include "hv/campaign/list/summary.h"

struct race_history {
	struct summary m;		 /* contains this race only, and owns all strings */
	const struct summary_race *race; /* in `m` */
	uint64_t seen, runs, rounds;
	const char *first, *last; /* start times of the first and the last round that saw the race */
	struct race_history_round {
		unsigned number;
		const char *campaign, *started;
		uint64_t seen, runs;
		enum summary_class class;
		const char *rule;
	} * in_rounds;
	size_t in_round_count;
	struct race_history_triage {
		enum store_triage state;
		const char *note, *who, *mended, *at;
	} * triage;
	size_t triage_count;
	json_t *record; /* the race in the latest report; NULL: the store has no record */
};

#endif

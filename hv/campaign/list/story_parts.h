/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The members of a race history. Only hv/campaign/list/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_LIST_STORY_PARTS_H
#define OUTRIDER_CAMPAIGN_LIST_STORY_PARTS_H

#include <jansson.h>

#include "hv/campaign/list/morning.h"

struct story {
	struct morning m;		 /* contains this race only, and owns all strings */
	const struct morning_race *race; /* in `m` */
	uint64_t seen, runs, rounds;
	const char *first, *last; /* start times of the first and the last round that saw it */
	struct story_round {
		unsigned number;
		const char *campaign, *started;
		uint64_t seen, runs;
		enum morning_class class;
		const char *rule;
	} * in_rounds;
	size_t in_round_count;
	struct story_said {
		enum morning_triage state;
		const char *note, *who, *at;
	} * said;
	size_t said_count;
	json_t *record; /* the race in the latest report; NULL: the store has none */
};

#endif

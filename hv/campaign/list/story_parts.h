/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a story has. Only hv/campaign/list/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_LIST_STORY_PARTS_H
#define OUTRIDER_CAMPAIGN_LIST_STORY_PARTS_H

#include <jansson.h>

#include "hv/campaign/list/morning.h"

struct story {
	struct morning m;		 /* Has this race only, and all strings. */
	const struct morning_race *race; /* in `m` */
	uint64_t seen, runs, rounds;
	const char *first, *last; /* When the rounds were started that saw it first and last. */
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
	json_t *record; /* The latest report of it. NULL: none was kept. */
};

#endif

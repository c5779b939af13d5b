/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists the runs of all campaigns in a store that saw a race. */
#ifndef OUTRIDER_CAMPAIGN_STORE_RACE_RUNS_H
#define OUTRIDER_CAMPAIGN_STORE_RACE_RUNS_H

#include "hv/campaign/store/store.h"

/* A run that saw a race. All strings are printable. */
struct store_race_run {
	int64_t run, started; /* `started` is in milliseconds since 1970 */
	const char *campaign;
	uint64_t number; /* of the round */
	const char *key; /* the run's key in the round */
	const char *banner, *build_id;
	const char *report; /* the race's id in the run's report */
	const char *command, *folder;
	uint64_t seen;	   /* observations */
	uint64_t first_ns; /* time in ns from the run's first armed sample point to the first time that it observed the race */
	enum verdict_class class;
	int rank;
	const char *rule;
};

STORE_LIST(store_race_runs, struct store_race_run);

/*
 * List the runs of all campaigns that saw the race, the newest first, and at most `most` of them. A run whose report has the
 * race under several ids is listed once for each id. Returns 0, or -1 with err set and an empty list.
 */
int store_race_runs(struct store *s, int64_t race, unsigned most, struct store_race_runs *out, struct err *err);

#endif

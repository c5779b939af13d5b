/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rounds in which a race was seen. Units, errors and locking are as in store.h. */
#ifndef OUTRIDER_CAMPAIGN_STORE_RACE_ROUNDS_H
#define OUTRIDER_CAMPAIGN_STORE_RACE_ROUNDS_H

#include "hv/campaign/store/store.h"

/* A round that saw a race. */
struct store_race_round {
	int64_t round, started;
	const char *campaign;
	uint64_t number;
	uint64_t seen, runs;
	/* The most serious verdict of the round. */
	enum verdict_class class;
	int rank;
	const char *rule;
};

struct store_race_rounds {
	struct store_race_round *list;
	size_t count;
	struct store_text *text;
};
void store_race_rounds_free(struct store_race_rounds *r);

/* All rounds of all campaigns that saw the race, oldest first. 0, or -1 with err set and an empty list. */
int store_race_rounds(struct store *s, int64_t race, struct store_race_rounds *out, struct err *err);

#endif

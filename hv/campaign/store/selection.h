/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rounds that a query selects, and those that came before them. Only hv/campaign/store/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_STORE_SELECTION_H
#define OUTRIDER_CAMPAIGN_STORE_SELECTION_H

#include "hv/campaign/store/internal.h"

/* A round, with its place in the order of rounds. */
struct selection_round {
	int64_t id, number, started;
	char uuid[STORE_UUID_MAX];
	const char *campaign;
	size_t place; /* number in the order of starts, from 1 */
	bool now;     /* The query selects this round. */
	bool before;  /* The round was started before all selected rounds. */
	bool base;    /* The base round, with which the query compares the selected rounds. */
	bool later;   /* The round was started after all selected rounds. */
};

/* All rounds of the store, sorted by id, with marks that say which of them a query selects. */
struct selection {
	struct selection_round *list;
	size_t count;
	struct store_text *text; /* the caller's */
	/* The first and the last selected round, and the base round. NULL: there is none. */
	const struct selection_round *first, *last, *base;
};

/*
 * Read all rounds, and mark those that `q` selects. Call it in a transaction. `text` owns the strings. Returns 0, or -1 with
 * err set: EXIT_INPUT if the store has no such round, EXIT_USAGE if q->since is no earlier round of the same campaign.
 */
int selection_init(struct selection *selection, struct store *s, const struct store_races_query *q, struct store_text *text,
		   struct err *err);
void selection_free(struct selection *selection);

/* Returns the round with this id, or NULL if there is none. */
const struct selection_round *selection_round(const struct selection *selection, int64_t id);

#endif

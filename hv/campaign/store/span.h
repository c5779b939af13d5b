/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which rounds are looked at, and which came before. Only hv/campaign/store/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_STORE_SPAN_H
#define OUTRIDER_CAMPAIGN_STORE_SPAN_H

#include "hv/campaign/store/internal.h"

/* A round, as far as the order of rounds goes. */
struct span_round {
	int64_t id, number, started;
	char uuid[STORE_UUID_MAX];
	const char *campaign;
	size_t place; /* in the order in which rounds were started */
	bool now;     /* It is looked at. */
	bool before;  /* It was started before all those that are looked at. */
	bool base;    /* It is the one that is compared with. */
	bool later;   /* It was started after all those that are looked at. */
};

/* All rounds of the store, by their ids. */
struct span {
	struct span_round *list;
	size_t count;
	/* The first and the last round that are looked at, and the one that is compared with. NULL: there is none. */
	const struct span_round *first, *last, *base;
};

/* Find out what `q` looks at. In a transaction. Strings are kept in `text`. -1 with EXIT_INPUT: there is no such round. */
int span_init(struct span *span, struct store *s, const struct store_races_query *q, struct store_text *text, struct err *err);
void span_free(struct span *span);

/* The round with this id. NULL: there is none. */
const struct span_round *span_round(const struct span *span, int64_t id);

#endif

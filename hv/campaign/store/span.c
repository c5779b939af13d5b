// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/campaign/store/span.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_rounds(struct span *span, struct store *s, struct store_text *text, struct err *err)
{
	struct db_rows *rows =
		db_ask(s->db, err, "SELECT id, number, started, campaign, uuid FROM round ORDER BY started, uuid", "");
	int rc = rows ? db_next(rows, err) : -1;

	for (; rc > 0; rc = db_next(rows, err)) {
		struct span_round *r = store_grow(&span->list, &span->count, sizeof(*r), err);

		if (!r) {
			rc = -1;
			break;
		}
		r->place = span->count;
		r->id = db_int(rows, 0);
		r->number = db_int(rows, 1);
		r->started = db_int(rows, 2);
		r->campaign = text_keep(text, db_text(rows, 3));
		snprintf(r->uuid, sizeof(r->uuid), "%.32s", db_text(rows, 4));
	}
	db_rows_end(rows);
	return rc;
}

static struct span_round *find(const struct span *span, int64_t id)
{
	for (size_t i = 0; i < span->count; i++) {
		if (span->list[i].id == id)
			return &span->list[i];
	}
	return NULL;
}

/* The latest earlier round of the same campaign. The list is in the order of starts. */
static struct span_round *before(const struct span *span, const struct span_round *r)
{
	for (size_t i = r->place - 1; i-- > 0;) {
		if (strcmp(span->list[i].campaign, r->campaign) == 0)
			return &span->list[i];
	}
	return NULL;
}

static int mark_one(struct span *span, struct store *s, const struct store_races_query *q, struct err *err)
{
	struct span_round *last = find(span, q->round), *base = q->since ? find(span, q->since) : NULL;
	size_t first = 0;

	if (!last || (q->since && !base))
		return err_set(err, EXIT_INPUT, "%s: the store has no such round", store_where(s));
	if (q->since && (strcmp(base->campaign, last->campaign) != 0 || base->place >= last->place))
		return err_set(err, EXIT_USAGE, "round %lld is no earlier round of the same campaign as round %lld",
			       (long long)base->number, (long long)last->number);
	if (!base)
		base = before(span, last);
	if (base)
		base->base = true;
	for (size_t i = 0; i < span->count; i++) {
		struct span_round *r = &span->list[i];

		r->now = strcmp(r->campaign, last->campaign) == 0 && r->place <= last->place &&
			 (q->since ? r->place > base->place : r == last);
		r->later = r->place > last->place;
		if (r->now && !first)
			first = r->place;
	}
	for (size_t i = 0; i < span->count; i++)
		span->list[i].before = span->list[i].place < first;
	return 0;
}

static int by_id(const void *left, const void *right)
{
	const struct span_round *a = left, *b = right;

	return a->id < b->id ? -1 : a->id > b->id;
}

/* Set the pointers into the list, after its last sort. */
static void point(struct span *span)
{
	for (size_t i = 0; i < span->count; i++) {
		const struct span_round *r = &span->list[i];

		if (r->base)
			span->base = r;
		if (r->now && (!span->first || r->place < span->first->place))
			span->first = r;
		if (r->now && (!span->last || r->place > span->last->place))
			span->last = r;
	}
}

int span_init(struct span *span, struct store *s, const struct store_races_query *q, struct store_text *text, struct err *err)
{
	*span = (struct span){0};
	if (read_rounds(span, s, text, err) < 0 || (q->round && mark_one(span, s, q, err) < 0)) {
		span_free(span);
		return -1;
	}
	for (size_t i = 0; !q->round && i < span->count; i++)
		span->list[i].now = true;
	if (span->count)
		qsort(span->list, span->count, sizeof(*span->list), by_id);
	point(span);
	return 0;
}

void span_free(struct span *span)
{
	free(span->list);
	*span = (struct span){0};
}

const struct span_round *span_round(const struct span *span, int64_t id)
{
	struct span_round key = {.id = id};

	return span->count ? bsearch(&key, span->list, span->count, sizeof(key), by_id) : NULL;
}

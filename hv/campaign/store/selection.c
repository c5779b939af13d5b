// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the rounds that a query to the store selects, and the rounds before them. */
#include "hv/campaign/store/selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_round(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct selection *selection = ctx;
	struct selection_round *r = list_grow(&selection->list, &selection->count, sizeof(*r), err);

	if (!r)
		return -1;
	r->place = selection->count;
	store_columns(rows, 0, selection->text, "iiit", &r->id, &r->number, &r->started, &r->campaign);
	snprintf(r->uuid, sizeof(r->uuid), "%.32s", db_text(rows, 4));
	return 0;
}

static const char rounds_sql[] = "SELECT id, number, started, campaign, uuid FROM round ORDER BY started, uuid";

static struct selection_round *find(const struct selection *selection, int64_t id)
{
	for (size_t i = 0; i < selection->count; i++) {
		if (selection->list[i].id == id)
			return &selection->list[i];
	}
	return NULL;
}

/* Returns the latest earlier round of the same campaign. The list is in the order of starts. */
static struct selection_round *before(const struct selection *selection, const struct selection_round *r)
{
	for (size_t i = r->place - 1; i-- > 0;) {
		if (strcmp(selection->list[i].campaign, r->campaign) == 0)
			return &selection->list[i];
	}
	return NULL;
}

static int mark_one(struct selection *selection, struct store *s, const struct store_races_query *q, struct err *err)
{
	struct selection_round *last = find(selection, q->round), *base = q->since ? find(selection, q->since) : NULL;
	size_t first = 0;

	if (!last || (q->since && !base))
		return err_set(err, EXIT_INPUT, "%s: the store has no such round", store_where(s));
	if (q->since && (strcmp(base->campaign, last->campaign) != 0 || base->place >= last->place))
		return err_set(err, EXIT_USAGE, "round %lld is not of the same campaign as round %lld, or is not earlier",
			       (long long)base->number, (long long)last->number);
	if (!base)
		base = before(selection, last);
	if (base)
		base->base = true;
	for (size_t i = 0; i < selection->count; i++) {
		struct selection_round *r = &selection->list[i];

		r->now = strcmp(r->campaign, last->campaign) == 0 && r->place <= last->place &&
			 (q->since ? r->place > base->place : r == last);
		r->later = r->place > last->place;
		if (r->now && !first)
			first = r->place;
	}
	for (size_t i = 0; i < selection->count; i++)
		selection->list[i].before = selection->list[i].place < first;
	return 0;
}

static int by_id(const void *left, const void *right)
{
	const struct selection_round *a = left, *b = right;

	return a->id < b->id ? -1 : a->id > b->id;
}

/*
 * Set selection->first, last and base to their entries in the list. Called when the list is sorted and does not change any
 * more.
 */
static void point(struct selection *selection)
{
	for (size_t i = 0; i < selection->count; i++) {
		const struct selection_round *r = &selection->list[i];

		if (r->base)
			selection->base = r;
		if (r->now && (!selection->first || r->place < selection->first->place))
			selection->first = r;
		if (r->now && (!selection->last || r->place > selection->last->place))
			selection->last = r;
	}
}

int selection_init(struct selection *selection, struct store *s, const struct store_races_query *q, struct store_text *text,
		   struct err *err)
{
	*selection = (struct selection){.text = text};
	if (db_each(db_query(s->db, err, rounds_sql, ""), read_round, selection, err) < 0 ||
	    (q->round && mark_one(selection, s, q, err) < 0)) {
		selection_free(selection);
		return -1;
	}
	for (size_t i = 0; !q->round && i < selection->count; i++)
		selection->list[i].now = true;
	if (selection->count)
		qsort(selection->list, selection->count, sizeof(*selection->list), by_id);
	point(selection);
	return 0;
}

void selection_free(struct selection *selection)
{
	free(selection->list);
	*selection = (struct selection){0};
}

const struct selection_round *selection_round(const struct selection *selection, int64_t id)
{
	struct selection_round key = {.id = id};

	return selection->count ? bsearch(&key, selection->list, selection->count, sizeof(key), by_id) : NULL;
}

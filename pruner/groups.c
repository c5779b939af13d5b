// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects the races with equal group keys (hv/race/group_key.h) into groups. */
#include "pruner/groups.h"

#include <stdlib.h>
#include <string.h>

#include "hv/race/count.h"
#include "hv/report/json/write.h"

/* A race with the key of its group. */
struct entry {
	struct group_key *key;
	const struct judged *judged;
	size_t index; /* in the list of verdicts */
	/* Index of the group's first race in the list of verdicts. */
	size_t first;
};

static int ordered(size_t a, size_t b)
{
	return a < b ? -1 : a > b;
}

/*
 * Sort the races of a group so that its lead comes first: races that are not suppressed before suppressed ones, then by class
 * (the worst first), by rank (the highest first), and by the order in which the races were found.
 */
static int compare_weight(const struct judged *a, const struct judged *b)
{
	if (!a->suppressed != !b->suppressed)
		return a->suppressed ? 1 : -1;
	if (a->verdict.class != b->verdict.class)
		return a->verdict.class < b->verdict.class ? -1 : 1;
	if (a->verdict.rank != b->verdict.rank)
		return a->verdict.rank > b->verdict.rank ? -1 : 1;
	return ordered(a->found, b->found);
}

static int by_key(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int order = strcmp(a->key->text, b->key->text);

	return order ? order : ordered(a->index, b->index);
}

static int by_group(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int order = ordered(a->first, b->first);

	return order ? order : compare_weight(a->judged, b->judged);
}

static int by_weight(const void *left, const void *right)
{
	const struct group *a = left, *b = right;

	return compare_weight(a->lead, b->lead);
}

/*
 * Returns the races with their keys, or NULL if memory ran out. The races of a group are neighbours, sorted by
 * compare_weight().
 */
static struct entry *make_entries(const struct verdicts *v, struct group_key *keys)
{
	struct entry *entries = calloc(v->count + 1, sizeof(*entries));

	if (!entries)
		return NULL;
	for (size_t i = 0; i < v->count; i++) {
		group_key(v->list[i].race, v->list[i].verdict.section, &keys[i]);
		entries[i] = (struct entry){.key = &keys[i], .judged = &v->list[i], .index = i};
	}
	qsort(entries, v->count, sizeof(*entries), by_key);
	for (size_t i = 0; i < v->count; i++) {
		bool same = i && strcmp(entries[i - 1].key->text, entries[i].key->text) == 0;

		entries[i].first = same ? entries[i - 1].first : entries[i].index;
	}
	qsort(entries, v->count, sizeof(*entries), by_group);
	return entries;
}

static void fill(struct groups *out, const struct entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct entry *e = &entries[i];
		struct group *g;

		if (!i || entries[i - 1].first != e->first) {
			g = &out->list[out->count++];
			*g = (struct group){.members = &out->members[i], .lead = e->judged, .text = e->key->text};
			memcpy(g->id, e->key->id, sizeof(g->id));
		}
		g = &out->list[out->count - 1];
		/*
		 * Use the first alias that a race of the group has. A race has no alias if the place of its datum in memory is
		 * not known.
		 */
		if (!g->alias[0])
			memcpy(g->alias, e->key->alias, sizeof(g->alias));
		out->members[i] = e->index;
		g->count++;
		g->seen = count_sum(g->seen, e->judged->race->count);
	}
}

/* Store in g->of[], for each race, the index of the group that contains the race. */
static void index_groups(struct groups *g)
{
	for (size_t i = 0; i < g->count; i++) {
		for (size_t k = 0; k < g->list[i].count; k++)
			g->of[g->list[i].members[k]] = i;
	}
}

int groups_find(struct groups *out, const struct verdicts *v, struct err *err)
{
	struct group_key *keys = calloc(v->count + 1, sizeof(*keys));
	struct entry *entries = keys ? make_entries(v, keys) : NULL;
	int rc = -1;

	*out = (struct groups){.keys = keys,
			       .list = calloc(v->count + 1, sizeof(*out->list)),
			       .of = calloc(v->count + 1, sizeof(*out->of)),
			       .members = calloc(v->count + 1, sizeof(*out->members)),
			       .races = v->count};
	if (!entries || !out->list || !out->of || !out->members) {
		err_set(err, EXIT_INTERNAL, "out of memory for the groups of %zu races", v->count);
		goto out;
	}
	fill(out, entries, v->count);
	index_groups(out);
	rc = 0;
out:
	free(entries);
	return rc;
}

void groups_free(struct groups *g)
{
	free(g->list);
	free(g->of);
	free(g->members);
	free(g->keys);
	*g = (struct groups){0};
}

void groups_sort(struct groups *g)
{
	qsort(g->list, g->count, sizeof(*g->list), by_weight);
	index_groups(g);
}

const struct group *groups_of(const struct groups *g, size_t index)
{
	return &g->list[g->of[index]];
}

static json_t *group_json(struct json_builder *b, const struct group *g, const struct verdicts *v)
{
	json_t *o = json_object(), *races = json_array();

	for (size_t i = 0; i < g->count; i++)
		json_append(b, races, json_string(v->list[g->members[i]].race->id));
	json_put(b, o, "id", json_string(g->id));
	json_put(b, o, "alias", g->alias[0] ? json_string(g->alias) : json_null());
	json_put(b, o, "text", json_string(g->text));
	json_put(b, o, "races", races);
	json_put(b, o, "count", json_whole(g->seen));
	json_put(b, o, "verdict", verdict_json(g->lead));
	return o;
}

json_t *groups_json(const struct groups *g, const struct verdicts *v)
{
	struct json_builder b = {0};
	json_t *list = json_array();

	for (size_t i = 0; i < g->count; i++)
		json_append(&b, list, group_json(&b, &g->list[i], v));
	if (!b.failed)
		return list;
	json_decref(list);
	return NULL;
}

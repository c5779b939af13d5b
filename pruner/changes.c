// SPDX-License-Identifier: GPL-2.0-or-later
#include "pruner/changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION_MAX (SITE_NAME_MAX + 16)
#define DATUM_MAX 768
#define KEY_MAX (2 * FUNCTION_MAX + DATUM_MAX + 16)

/* A race of one list, and its match in the other list. */
struct left {
	const struct judged *judged;
	size_t place;		    /* The race's position in its list. */
	char *key;		    /* The key of this matching pass. NULL: the race has no such key, or has a match already. */
	uint64_t offset[2];	    /* The offsets of both sites in their functions. */
	const struct judged *match; /* NULL: no match was found yet. */
};

struct side {
	struct left *list;
	size_t count;
};

/* ---- the keys that races are matched by ---- */

/* Sort two strings bytewise, as the race's id sorts its sites: it is chance which of the two sites was the held side. */
static void sort_two(const char *a, const char *b, const char **first, const char **second)
{
	bool swap = strcmp(a, b) > 0;

	*first = swap ? b : a;
	*second = swap ? a : b;
}

static bool key_of_id(const struct race *race, char out[KEY_MAX])
{
	const char *first, *second;

	sort_two(race->site[0], race->site[1], &first, &second);
	snprintf(out, KEY_MAX, "%s %s %s", race->id, first, second);
	return true;
}

/* Set `out` to the function of a site and the kind of its access. Returns false for a site without a symbol. */
static bool function_of(const struct race *race, unsigned which, char out[FUNCTION_MAX])
{
	const char *site = race->site[which], *name = strncmp(site, "stop:", 5) == 0 ? site + 5 : site;

	if (strncmp(name, "image+", 6) == 0 || strncmp(name, "raw+", 4) == 0)
		return false;
	snprintf(out, FUNCTION_MAX, "%.*s/%u", (int)strcspn(name, "+"), name, race->rw[which]);
	return true;
}

static bool key_of_functions(const struct race *race, char out[KEY_MAX])
{
	char function[2][FUNCTION_MAX];
	const char *first, *second;

	if (!function_of(race, 0, function[0]) || !function_of(race, 1, function[1]))
		return false;
	sort_two(function[0], function[1], &first, &second);
	snprintf(out, KEY_MAX, "%s %s", first, second);
	return true;
}

/* Set `out` to the datum's name by debug files, or else by the guest's own tables. Returns false when the datum has no name. */
static bool datum_of(const struct race *race, char out[DATUM_MAX])
{
	const struct datum_name *d = race->names ? &race->names->datum[race->names->best] : NULL;
	const struct guest_memory *m = &race->first.memory;

	if (d && d->by != DATUM_UNNAMED && !d->guess)
		snprintf(out, DATUM_MAX, "%s.%s", d->by == DATUM_BY_VARIABLE ? d->variable : d->owner, d->member);
	else if (m->symbol.name[0] || m->type[0])
		snprintf(out, DATUM_MAX, "%s.%s", m->symbol.name[0] ? m->symbol.name : m->type, m->member);
	else
		return false;
	return true;
}

static bool key_of_functions_and_datum(const struct race *race, char out[KEY_MAX])
{
	char datum[DATUM_MAX];
	size_t used;

	if (!key_of_functions(race, out) || !datum_of(race, datum))
		return false;
	used = strlen(out);
	snprintf(out + used, KEY_MAX - used, " %s", datum);
	return true;
}

/* ---- matching ---- */

static int by_key(const void *left, const void *right)
{
	const struct left *a = left, *b = right;
	int order;

	/* Races without a key, or with a match, come last. */
	if (!a->key || !b->key)
		return (b->key != NULL) - (a->key != NULL);
	order = strcmp(a->key, b->key);
	for (unsigned i = 0; i < 2 && !order; i++)
		order = a->offset[i] < b->offset[i] ? -1 : a->offset[i] > b->offset[i];
	return order ? order : a->place < b->place ? -1 : 1;
}

static int make_keys(struct side *s, bool (*key_of)(const struct race *race, char out[KEY_MAX]))
{
	char key[KEY_MAX];

	for (size_t i = 0; i < s->count; i++) {
		struct left *l = &s->list[i];

		free(l->key);
		l->key = NULL;
		if (l->match || !key_of(l->judged->race, key))
			continue;
		l->key = strdup(key);
		if (!l->key)
			return -1;
	}
	qsort(s->list, s->count, sizeof(*s->list), by_key);
	return 0;
}

static bool may_match_always(const struct race *a, const struct race *b)
{
	(void)a;
	(void)b;
	return true;
}

/*
 * Returns whether two races without a match may be the same race: the datum of at least one has no name. The pass before this
 * one matched the races with equal names, so two named data have different names here.
 */
static bool may_match_without_datum(const struct race *a, const struct race *b)
{
	char datum[DATUM_MAX];

	return !datum_of(a, datum) || !datum_of(b, datum);
}

/* Match races with equal keys in the order of their offsets. Another build seldom changes this order. */
static int match_by(struct side *before, struct side *now, bool (*key_of)(const struct race *race, char out[KEY_MAX]),
		    bool (*may_match)(const struct race *a, const struct race *b))
{
	size_t i = 0, j = 0;

	if (make_keys(before, key_of) < 0 || make_keys(now, key_of) < 0)
		return -1;
	while (i < before->count && j < now->count && before->list[i].key && now->list[j].key) {
		struct left *a = &before->list[i], *b = &now->list[j];
		int order = strcmp(a->key, b->key);

		if (order == 0 && may_match(a->judged->race, b->judged->race)) {
			a->match = b->judged;
			b->match = a->judged;
		}
		i += order <= 0;
		j += order >= 0;
	}
	return 0;
}

static int make_side(struct side *s, const struct verdicts *v)
{
	s->list = calloc(v->count + 1, sizeof(*s->list));
	if (!s->list)
		return -1;
	for (size_t i = 0; i < v->count; i++) {
		struct left *l = &s->list[s->count++];

		l->judged = &v->list[i];
		l->place = i;
		for (unsigned which = 0; which < 2; which++) {
			const char *plus = strrchr(v->list[i].race->site[which], '+');

			l->offset[which] = plus ? strtoull(plus + 1, NULL, 16) : 0;
		}
	}
	return 0;
}

static void free_side(struct side *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->list[i].key);
	free(s->list);
}

/* ---- the list of changes ---- */

static bool same_verdict(const struct verdict *a, const struct verdict *b)
{
	return a->class == b->class && a->rule == b->rule;
}

static enum change_kind kind_of(const struct judged *before, const struct judged *now)
{
	if (!before)
		return CHANGE_NEW;
	if (!now)
		return CHANGE_GONE;
	if (!same_verdict(&before->verdict, &now->verdict))
		return CHANGE_VERDICT;
	return strcmp(before->race->id, now->race->id) == 0 ? CHANGE_NONE : CHANGE_MOVED;
}

static void add(struct changes *out, const struct judged *before, const struct judged *now)
{
	struct change *c = &out->list[out->count++];

	*c = (struct change){kind_of(before, now), before, now};
	out->of_kind[c->kind]++;
}

/* Sort by kind, then by the position in the list. Each list is one array, so the addresses of its entries give the position. */
static int in_order(const void *left, const void *right)
{
	const struct change *a = left, *b = right;
	const struct judged *x = a->now ? a->now : a->before, *y = b->now ? b->now : b->before;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return x < y ? -1 : x > y;
}

int changes_find(struct changes *out, const struct verdicts *before, const struct verdicts *now, struct err *err)
{
	struct side old = {0}, new = {0};
	int rc = -1;

	*out = (struct changes){.list = calloc(before->count + now->count + 1, sizeof(*out->list))};
	if (!out->list || make_side(&old, before) < 0 || make_side(&new, now) < 0 ||
	    match_by(&old, &new, key_of_id, may_match_always) < 0 ||
	    match_by(&old, &new, key_of_functions_and_datum, may_match_always) < 0 ||
	    match_by(&old, &new, key_of_functions, may_match_without_datum) < 0) {
		err_set(err, EXIT_INTERNAL, "out of memory while comparing races");
		goto out;
	}
	for (size_t i = 0; i < new.count; i++)
		add(out, new.list[i].match, new.list[i].judged);
	for (size_t i = 0; i < old.count; i++) {
		if (!old.list[i].match)
			add(out, old.list[i].judged, NULL);
	}
	qsort(out->list, out->count, sizeof(*out->list), in_order);
	rc = 0;
out:
	free_side(&old);
	free_side(&new);
	return rc;
}

void changes_free(struct changes *c)
{
	free(c->list);
	*c = (struct changes){0};
}

bool change_is_worse(const struct change *c)
{
	if (!c->now || c->now->suppressed)
		return false;
	return !c->before || c->now->verdict.class < c->before->verdict.class;
}

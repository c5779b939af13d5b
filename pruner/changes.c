// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Matches the races of an old and a new list in several passes, the surest way first. Each pass gives every race that has no
 * match yet a key, and matches races with equal keys.
 */
#include "pruner/changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/race/race_key.h"

#define KEY_MAX 1024

/* A race of the old or the new list, and its match in the other list. */
struct left {
	const struct judged *judged;
	size_t place;	      /* The race's position in its list. */
	struct race_key race; /* What identifies the race in every build. */
	/* The key in the running pass. NULL: this pass has no key for the race, or an earlier pass found a match. */
	char *key;
	/* The offsets of both sites in their functions, in the order of race.sides. */
	uint64_t offset[2];
	const struct judged *match; /* NULL: no match was found yet. */
};

struct side {
	struct left *list;
	size_t count;
};

/* A matching pass: a race of the old list matches a race of the new list if their keys are equal, and may_match() agrees. */
struct pass {
	/* Write the race's key. Returns false if the race has none. */
	bool (*key_of)(const struct left *l, char out[KEY_MAX]);
	/* NULL: always. */
	bool (*may_match)(const struct left *a, const struct left *b);
	/*
	 * The pass matches only races of different builds of the kernel: two races of one build are the same race only if their
	 * ids are equal.
	 */
	bool across_builds;
};

/* ---- the keys that races are matched by ---- */

/*
 * Write as key the id and both sites, the bytewise smaller site first, as in race_id(): which of the two sites was the held
 * side is chance.
 */
static bool key_of_id(const struct left *l, char out[KEY_MAX])
{
	const struct race *race = l->judged->race;
	bool swap = strcmp(race->site[0], race->site[1]) > 0;

	snprintf(out, KEY_MAX, "%s %s %s", race->id, race->site[swap], race->site[!swap]);
	return true;
}

static bool has_datum(const struct left *l)
{
	return l->race.datum[0] || l->race.place[0];
}

static bool key_of_identity(const struct left *l, char out[KEY_MAX])
{
	snprintf(out, KEY_MAX, "%s", l->race.identity);
	return has_datum(l);
}

/*
 * Write as key the identity that the race has without debug files. So a list that was made with debug files can be compared
 * with a list that was made without them.
 */
static bool key_of_alias(const struct left *l, char out[KEY_MAX])
{
	snprintf(out, KEY_MAX, "%s", l->race.datum[0] ? l->race.alias : l->race.identity);
	return l->race.place[0];
}

static bool has_function(const struct race_key_side *side)
{
	return strncmp(side->function, "image+", 6) != 0 && strcmp(side->function, "raw") != 0;
}

static bool key_of_functions(const struct left *l, char out[KEY_MAX])
{
	const struct race_key_side *a = &l->race.sides[0], *b = &l->race.sides[1];

	snprintf(out, KEY_MAX, RACE_KEY_SIDES, a->kind, a->function, a->module, b->kind, b->function, b->module);
	return has_function(a) && has_function(b);
}

/*
 * Returns false if debug files name the data of both races: the pass by identity has compared these names already, and found
 * them different.
 */
static bool may_be_alias(const struct left *a, const struct left *b)
{
	return !a->race.datum[0] || !b->race.datum[0];
}

static bool may_match_without_datum(const struct left *a, const struct left *b)
{
	return !has_datum(a) || !has_datum(b);
}

static const struct pass passes[] = {
	{key_of_id, NULL, false},
	{key_of_identity, NULL, true},
	{key_of_alias, may_be_alias, true},
	{key_of_functions, may_match_without_datum, true},
};

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

static int make_keys(struct side *s, const struct pass *pass)
{
	char key[KEY_MAX];

	for (size_t i = 0; i < s->count; i++) {
		struct left *l = &s->list[i];

		free(l->key);
		l->key = NULL;
		if (l->match || !pass->key_of(l, key))
			continue;
		l->key = strdup(key);
		if (!l->key)
			return -1;
	}
	qsort(s->list, s->count, sizeof(*s->list), by_key);
	return 0;
}

/*
 * Returns whether both lists come from one build of the race's code. For each side, that is the build of the kernel or module
 * that contains the side's function.
 */
static bool in_one_build(const struct changes_builds *builds, const struct left *l)
{
	const struct race_side *sides = l->judged->race->first.sides;

	for (unsigned i = 0; builds && i < 2; i++) {
		if (sides[i].kind == RACE_SIDE_CPU && !builds->same(builds->ctx, sides[i].symbol.module))
			return false;
	}
	return builds != NULL;
}

/*
 * Run one pass. Of several races with equal keys, the first of the old list matches the first of the new list, and so on, in
 * the order of the races' offsets in their functions: another build seldom changes this order.
 */
static int match_by(struct side *before, struct side *now, const struct pass *pass, const struct changes_builds *builds)
{
	size_t i = 0, j = 0;

	if (make_keys(before, pass) < 0 || make_keys(now, pass) < 0)
		return -1;
	while (i < before->count && j < now->count && before->list[i].key && now->list[j].key) {
		struct left *a = &before->list[i], *b = &now->list[j];
		int order = strcmp(a->key, b->key);

		if (order == 0 && (!pass->may_match || pass->may_match(a, b)) &&
		    !(pass->across_builds && in_one_build(builds, a))) {
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
		race_key(l->judged->race, &l->race);
		for (unsigned which = 0; which < 2; which++)
			l->offset[which] = site_offset(l->judged->race->site[l->race.sides[which].side]);
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

/*
 * Sort changes by kind, then by the position of the race in its list. Each list is one array, so the addresses of its entries
 * give the position.
 */
static int in_order(const void *left, const void *right)
{
	const struct change *a = left, *b = right;
	const struct judged *x = a->now ? a->now : a->before, *y = b->now ? b->now : b->before;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Match the races of both lists, the surest way first. Returns 0, or -1 if memory runs out. */
static int match_all(struct side *before, struct side *now, const struct changes_builds *builds)
{
	for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++) {
		if (match_by(before, now, &passes[i], builds) < 0)
			return -1;
	}
	return 0;
}

int changes_find(struct changes *out, const struct verdicts *before, const struct verdicts *now,
		 const struct changes_builds *builds, struct err *err)
{
	struct side old = {0}, new = {0};
	int rc = -1;

	*out = (struct changes){.list = calloc(before->count + now->count + 1, sizeof(*out->list))};
	if (!out->list || make_side(&old, before) < 0 || make_side(&new, now) < 0 || match_all(&old, &new, builds) < 0) {
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

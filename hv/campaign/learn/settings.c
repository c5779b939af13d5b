// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Orders the runs of a round: settings whose runs lately found new races tend to come sooner. A setting is what runs with
 * different seeds have in common (struct learn_setting): kernel, image, workload and sampling.
 */
#include "hv/campaign/learn/settings.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/fnv1a.h"
#include "hv/base/rng.h"

/*
 * Number of latest rounds whose runs decide the weight of a setting: a setting that found new races longer ago may be saturated
 * now.
 */
#define ROUNDS 4u
/* The largest ratio between the weights of two settings, so that no setting starves. */
#define MOST 10.0

/* The new races that the runs of a setting found. */
struct yield {
	const struct learn_setting *setting;
	double found, seconds, runs, weight;
	/* Number of runs of this setting that place_all() has given their sort keys so far. */
	size_t placed;
};

/* The sort keys of a run. */
struct place {
	size_t index;
	/*
	 * `turn`: number of earlier runs of the same setting in the list. `key`: a random number, by which runs with the same
	 * `turn` are sorted.
	 */
	size_t turn;
	double key;
};

static bool same(const struct learn_setting *a, const struct learn_setting *b)
{
	return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->image, b->image) == 0 && strcmp(a->workload, b->workload) == 0 &&
	       strcmp(a->sampling, b->sampling) == 0;
}

static struct yield *find(struct yield *yields, size_t count, const struct learn_setting *setting)
{
	for (size_t i = 0; i < count; i++) {
		if (same(yields[i].setting, setting))
			return &yields[i];
	}
	return NULL;
}

static int add_round(struct store *s, int64_t round, struct yield *yields, size_t count, struct err *err)
{
	struct store_runs runs = {0};
	int rc = store_runs(s, round, &runs, err);

	for (size_t i = 0; rc == 0 && i < runs.count; i++) {
		const struct store_run *run = &runs.list[i];
		const struct learn_setting setting = {run->kernel, run->image, run->workload, run->sampling};
		struct yield *y = run->sampled_ns ? find(yields, count, &setting) : NULL;

		if (!y)
			continue;
		y->found += (double)run->new_races;
		y->seconds += (double)run->sampled_ns / 1e9;
		y->runs++;
	}
	store_runs_free(&runs);
	return rc;
}

static int add_rounds(struct store *s, const char *campaign, int64_t before, struct yield *yields, size_t count,
		      struct err *err)
{
	const struct store_rounds_query query = {.campaign = campaign, .before = before, .last = ROUNDS};
	struct store_rounds rounds = {0};
	int rc = store_rounds(s, &query, &rounds, err);

	for (size_t i = 0; rc == 0 && i < rounds.count; i++)
		rc = add_round(s, rounds.list[i].id, yields, count, err);
	store_rounds_free(&rounds);
	return rc;
}

/*
 * Compute the weight of each setting: the number of new races for each second of sampling, relative to the best setting. For
 * this, add to each setting one imaginary run with the mean values of all runs, so that a single lucky run does not decide.
 */
static void weigh(struct yield *yields, size_t count)
{
	struct yield all = {0};
	double best = 0;

	for (size_t i = 0; i < count; i++) {
		all.found += yields[i].found;
		all.seconds += yields[i].seconds;
		all.runs += yields[i].runs;
	}
	for (size_t i = 0; i < count; i++) {
		struct yield *y = &yields[i];

		if (y->runs > 0)
			y->weight = (y->found + all.found / all.runs) / (y->seconds + all.seconds / all.runs);
		best = y->weight > best ? y->weight : best;
	}
	for (size_t i = 0; i < count; i++) {
		struct yield *y = &yields[i];

		y->weight = y->runs > 0 && best > 0 ? fmax(y->weight / best, 1 / MOST) : 1;
	}
}

/*
 * Returns a random sort key. In the order of these keys, the probability of an item to come next is proportional to its weight
 * among the items that are left (Efraimidis and Spirakis, Information Processing Letters 97, 2006).
 */
static double random_key(const char *uuid, const struct learn_setting *s, size_t turn, double weight)
{
	uint64_t hash = fnv1a(fnv1a(FNV1A_START, uuid), "/");
	struct rng rng;

	hash = fnv1a(fnv1a(fnv1a(fnv1a(hash, s->kernel), "/"), s->image), "/");
	hash = fnv1a(fnv1a(fnv1a(hash, s->workload), "/"), s->sampling);
	rng.state = hash + turn;
	return -log(((double)(rng_next(&rng) >> 11) + 0.5) / 9007199254740992.0) / weight;
}

static int by_turn_and_key(const void *a, const void *b)
{
	const struct place *one = a, *other = b;

	if (one->turn != other->turn)
		return one->turn < other->turn ? -1 : 1;
	return (one->key > other->key) - (one->key < other->key);
}

/*
 * Write to yields[] an entry for each setting of the `count` runs in `list`, each setting once. Returns the number of settings.
 */
static size_t list_settings(const struct learn_setting *list, size_t count, struct yield *yields)
{
	size_t settings = 0;

	for (size_t i = 0; i < count; i++) {
		if (!find(yields, settings, &list[i]))
			yields[settings++].setting = &list[i];
	}
	return settings;
}

static void place_all(const struct learn_setting *list, size_t count, struct yield *yields, size_t settings, const char *uuid,
		      struct place *places)
{
	for (size_t i = 0; i < count; i++) {
		struct yield *y = find(yields, settings, &list[i]);

		places[i] = (struct place){i, y->placed, random_key(uuid, &list[i], y->placed, y->weight)};
		y->placed++;
	}
	qsort(places, count, sizeof(*places), by_turn_and_key);
}

int learn_order(struct store *s, const char *campaign, int64_t round, const char *uuid, const struct learn_setting *list,
		size_t count, size_t *order, struct err *err)
{
	struct yield *yields = calloc(count + 1, sizeof(*yields));
	struct place *places = calloc(count + 1, sizeof(*places));
	size_t settings;
	int rc = -1;

	if (!yields || !places) {
		err_set(err, EXIT_INTERNAL, "out of memory for the order of runs");
		goto out;
	}
	settings = list_settings(list, count, yields);
	if (add_rounds(s, campaign, round, yields, settings, err) < 0)
		goto out;
	weigh(yields, settings);
	place_all(list, count, yields, settings, uuid, places);
	for (size_t i = 0; i < count; i++)
		order[i] = places[i].index;
	rc = 0;
out:
	free(yields);
	free(places);
	return rc;
}

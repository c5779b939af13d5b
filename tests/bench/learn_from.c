// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a campaign would learn from some runs, without a store: learn_from PREFER COVERAGE RACES [COVERAGE RACES]... writes the
 * file for --prefer, from the files that --coverage and --json wrote.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/learn/weights.h"
#include "hv/report/coverage/read.h"
#include "hv/report/json/load.h"

/* The pairs of all runs. */
struct pairs {
	struct pair {
		char id[RACE_ID_MAX];
		char site[2][SITE_NAME_MAX];
	} * list;
	size_t count;
};

struct reading {
	struct weights *weights;
	char build_id[COVERAGE_BUILD_ID_MAX];
};

static int take_summary(void *ctx, const struct coverage_summary *summary, struct err *err)
{
	struct reading *r = ctx;

	(void)err;
	memcpy(r->build_id, summary->build_id, sizeof(r->build_id));
	return 0;
}

static int take_function(void *ctx, const struct coverage_function *fn, struct err *err)
{
	struct reading *r = ctx;
	char name[SITE_NAME_MAX + 16];

	for (size_t i = 0; i < fn->count; i++) {
		const struct coverage_counts *c = &fn->armed[i].counts;
		const struct weights_site site = {name, c->armed, c->hits, c->windows, c->conflicts, c->talks};

		snprintf(name, sizeof(name), "%s+0x%x", fn->name, fn->armed[i].offset);
		if (weights_add_site(r->weights, &site))
			return err_set(err, EXIT_INTERNAL, "out of memory");
	}
	return 0;
}

static int add_pair(struct pairs *pairs, const struct race *race, struct err *err)
{
	struct pair *list;

	for (size_t i = 0; i < pairs->count; i++) {
		if (strcmp(pairs->list[i].id, race->id) == 0)
			return 0;
	}
	list = realloc(pairs->list, (pairs->count + 1) * sizeof(*list));
	if (!list)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	pairs->list = list;
	list += pairs->count++;
	memcpy(list->id, race->id, sizeof(list->id));
	memcpy(list->site, race->site, sizeof(list->site));
	return 0;
}

static int add_races(struct pairs *pairs, const char *path, struct err *err)
{
	struct report_load l;
	int rc = 0;

	if (report_load(&l, path, err))
		return -1;
	for (size_t i = 0; i < l.count && rc == 0; i++)
		rc = add_pair(pairs, l.races[i], err);
	report_load_free(&l);
	return rc;
}

static int learn(struct reading *r, struct pairs *pairs, char **paths, int count, struct err *err)
{
	const struct coverage_taker taker = {take_summary, take_function, r};

	for (int i = 1; i + 1 < count; i += 2) {
		if (coverage_read(paths[i], &taker, err) || add_races(pairs, paths[i + 1], err))
			return -1;
	}
	for (size_t i = 0; i < pairs->count; i++)
		weights_add_pair(r->weights, pairs->list[i].site[0], pairs->list[i].site[1]);
	return weights_write(r->weights, r->build_id, paths[0], err);
}

int main(int argc, char **argv)
{
	struct reading r = {.weights = weights_new()};
	struct pairs pairs = {0};
	struct err err = {0};

	if (argc < 4 || argc % 2)
		err_set(&err, EXIT_USAGE, "learn_from PREFER COVERAGE RACES [COVERAGE RACES]...");
	else if (!r.weights)
		err_set(&err, EXIT_INTERNAL, "out of memory");
	else
		learn(&r, &pairs, argv + 1, argc - 1, &err);
	weights_free(r.weights);
	free(pairs.list);
	if (err.code != EXIT_OK)
		fprintf(stderr, "learn_from: %s\n", err.text);
	return (int)err.code;
}

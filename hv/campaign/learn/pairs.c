// SPDX-License-Identifier: GPL-2.0-or-later
/* Orders the runs that explore pairs of programs (pairs.h). */
#include "hv/campaign/learn/pairs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A program, and how much memory it shares with other programs: a mean over the explored pairs with this program (pairs.h). */
struct program {
	const char *prepare, *command;
	/* the sum of store_explored_pair.own over the explored pairs with this program, and the number of these pairs */
	double own, pairs;
};

/* The results of earlier explorations of the pairs of one kernel. */
struct known {
	struct store_explored pairs; /* sorted by by_pair() */
	struct program *programs;    /* sorted by by_program() */
	size_t program_count;
	double most; /* the largest share_of() of all programs */
};

/* Why a run comes sooner or later than others. */
enum stage { NOT_EXPLORED, NOT_ALL_TRIED, ALL_TRIED };

/* The sort keys of a run, the most important first. */
struct place {
	bool placed;
	size_t turn; /* number of earlier runs of the same pair in the list */
	enum stage stage;
	double share; /* the sum of share_of() of both programs; 0 if the pair was explored */
	uint64_t trials;
	size_t index;
};

static int compare_pairs(const struct store_programs *a, const struct store_programs *b)
{
	int order = strcmp(a->prepare, b->prepare);

	for (size_t i = 0; i < 2 && !order; i++)
		order = strcmp(a->program[i], b->program[i]);
	return order;
}

static int by_pair(const void *a, const void *b)
{
	return compare_pairs(&((const struct store_explored_pair *)a)->pair, &((const struct store_explored_pair *)b)->pair);
}

static int by_program(const void *a, const void *b)
{
	const struct program *one = a, *other = b;
	int order = strcmp(one->prepare, other->prepare);

	return order ? order : strcmp(one->command, other->command);
}

/* ---- what is known ---- */

static double share_of(const struct program *p)
{
	return p->own / p->pairs;
}

/* List the programs of the pairs, each once. */
static int list_programs(struct known *k, struct err *err)
{
	size_t all = 0;

	k->programs = calloc(2 * k->pairs.count + 1, sizeof(*k->programs));
	if (!k->programs)
		return err_set(err, EXIT_INTERNAL, "out of memory for the order of runs");
	for (size_t i = 0; i < 2 * k->pairs.count; i++) {
		const struct store_explored_pair *from = &k->pairs.list[i / 2];

		k->programs[all++] = (struct program){from->pair.prepare, from->pair.program[i % 2], (double)from->own, 1};
	}
	qsort(k->programs, all, sizeof(*k->programs), by_program);
	for (size_t i = 0; i < all; i++) {
		struct program *last = k->program_count ? &k->programs[k->program_count - 1] : NULL;

		if (!last || by_program(last, &k->programs[i]) != 0) {
			k->programs[k->program_count++] = k->programs[i];
			continue;
		}
		last->own += k->programs[i].own;
		last->pairs++;
	}
	for (size_t i = 0; i < k->program_count; i++)
		k->most = share_of(&k->programs[i]) > k->most ? share_of(&k->programs[i]) : k->most;
	return 0;
}

static int know(struct known *k, struct store *s, const char *campaign, const char *kernel, struct err *err)
{
	*k = (struct known){0};
	if (store_explored(s, campaign, kernel, &k->pairs, err) < 0)
		return -1;
	if (k->pairs.count)
		qsort(k->pairs.list, k->pairs.count, sizeof(*k->pairs.list), by_pair);
	return list_programs(k, err);
}

static void forget(struct known *k)
{
	store_explored_free(&k->pairs);
	free(k->programs);
}

/* ---- the order ---- */

static void place(const struct known *k, const struct store_programs *pair, struct place *out)
{
	const struct store_explored_pair key = {.pair = *pair};
	const struct store_explored_pair *found =
		k->pairs.count ? bsearch(&key, k->pairs.list, k->pairs.count, sizeof(key), by_pair) : NULL;

	out->placed = true;
	if (found) {
		out->stage = found->untried ? NOT_ALL_TRIED : ALL_TRIED;
		out->trials = found->trials;
		return;
	}
	for (size_t i = 0; i < 2; i++) {
		const struct program program = {.prepare = pair->prepare, .command = pair->program[i]};
		const struct program *p =
			k->program_count ? bsearch(&program, k->programs, k->program_count, sizeof(program), by_program) : NULL;

		out->share += p ? share_of(p) : k->most;
	}
}

static bool same(const struct learn_pair *a, const struct learn_pair *b)
{
	return strcmp(a->kernel, b->kernel) == 0 && compare_pairs(&a->programs, &b->programs) == 0;
}

static int by_place(const void *a, const void *b)
{
	const struct place *one = a, *other = b;

	if (one->turn != other->turn)
		return one->turn < other->turn ? -1 : 1;
	if (one->stage != other->stage)
		return one->stage < other->stage ? -1 : 1;
	if (one->share > other->share || one->share < other->share)
		return one->share > other->share ? -1 : 1;
	if (one->trials != other->trials)
		return one->trials < other->trials ? -1 : 1;
	return one->index < other->index ? -1 : 1;
}

/* Fill in the places of all runs that have the same kernel as list[first]. Runs before list[first] have other kernels. */
static int place_kernel(struct store *s, const char *campaign, const struct learn_pair *list, size_t first, size_t count,
			struct place *places, struct err *err)
{
	struct known k;
	int rc = know(&k, s, campaign, list[first].kernel, err);

	for (size_t i = first; rc == 0 && i < count; i++) {
		if (strcmp(list[i].kernel, list[first].kernel) == 0)
			place(&k, &list[i].programs, &places[i]);
	}
	forget(&k);
	return rc;
}

int learn_pair_order(struct store *s, const char *campaign, const struct learn_pair *list, size_t count, size_t *order,
		     struct err *err)
{
	struct place *places = calloc(count + 1, sizeof(*places));
	int rc = places ? 0 : err_set(err, EXIT_INTERNAL, "out of memory for the order of runs");

	for (size_t i = 0; rc == 0 && i < count; i++) {
		places[i].index = i;
		/* Find the last earlier run of the same pair. The list has one run of each pair for each seed. */
		for (size_t k = i; k-- > 0;) {
			if (same(&list[i], &list[k])) {
				places[i].turn = places[k].turn + 1;
				break;
			}
		}
		if (!places[i].placed)
			rc = place_kernel(s, campaign, list, i, count, places, err);
	}
	if (rc == 0) {
		qsort(places, count, sizeof(*places), by_place);
		for (size_t i = 0; i < count; i++)
			order[i] = places[i].index;
	}
	free(places);
	return rc;
}

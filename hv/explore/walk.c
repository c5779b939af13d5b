// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses and forces random schedules by PCT (walk.h). */
#include "hv/explore/walk.h"

#include <stdlib.h>

/* ---- places ---- */

/* Sorts places by side, and in the order in which the side came to them. */
static int by_time(const void *a, const void *b)
{
	const struct explore_point *x = a, *y = b;

	if (x->side != y->side)
		return x->side < y->side ? -1 : 1;
	if (x->at.access.at != y->at.access.at)
		return x->at.access.at < y->at.access.at ? -1 : 1;
	return (x->at.access.gva > y->at.access.gva) - (x->at.access.gva < y->at.access.gva);
}

static bool same_place(const struct explore_point *a, const struct explore_point *b)
{
	return a->side == b->side && a->at.access.at == b->at.access.at;
}

static void add_places(struct walk_places *p, const struct explore_candidate *all, size_t count, bool late)
{
	for (size_t i = 0; i < count; i++)
		for (unsigned side = 0; side < 2 && (late || !explore_reasons(&all[i])); side++)
			p->place[p->count++] = (struct explore_point){.side = side, .at = all[i].side[side]};
}

int walk_find_places(struct walk_places *p, const struct explore_candidate *all, size_t count)
{
	size_t kept = 0;

	*p = (struct walk_places){.place = calloc(2 * count + 1, sizeof(*p->place))};
	if (!p->place)
		return -1;
	add_places(p, all, count, false);
	if (!p->count)
		add_places(p, all, count, true);
	qsort(p->place, p->count, sizeof(*p->place), by_time);
	for (size_t i = 0; i < p->count; i++)
		if (!kept || !same_place(&p->place[kept - 1], &p->place[i]))
			p->place[kept++] = p->place[i];
	p->count = kept;
	return 0;
}

void walk_places_free(struct walk_places *p)
{
	free(p->place);
	*p = (struct walk_places){0};
}

/* ---- a schedule ---- */

void walk_choose(const struct walk_places *p, unsigned depth, struct rng *rng, struct explore_walk *out)
{
	*out = (struct explore_walk){.first = (unsigned)rng_below(rng, 2), .count = depth - 1};
	for (unsigned i = 0; i < out->count; i++)
		out->point[i] = p->place[rng_below(rng, p->count)];
	/* A program comes to its change points in the order of its recording. */
	qsort(out->point, out->count, sizeof(out->point[0]), by_time);
}

double walk_probability(const struct walk_places *p, unsigned depth)
{
	double probability = 0.5;

	for (unsigned i = 1; i < depth; i++)
		probability /= (double)p->count;
	return probability;
}

/* ---- forcing ---- */

struct walker {
	struct drive *d;
	const struct explore_walk *walk;
	uint64_t ns;
	unsigned from[2]; /* for each side: the index in walk->point at which the search for its next change point begins */
	bool there[2];	  /* the side is held before the access of a change point */
};

/*
 * Returns the side's next change point: the place before the access at which this side stops and the other side runs on (PCT,
 * walk.h). Marks the change point as used. Returns NULL if the side has no more change points.
 */
static const struct explore_point *next_point(struct walker *w, unsigned side)
{
	while (w->from[side] < w->walk->count) {
		const struct explore_point *point = &w->walk->point[w->from[side]++];

		if (point->side == side)
			return point;
	}
	return NULL;
}

/* Let the side run up to its next change point, or to the end of its program. */
static enum drive_end run_on(struct walker *w, unsigned side)
{
	const struct explore_point *point = next_point(w, side);
	enum drive_end end;

	/*
	 * Step over the access at which the side is held. A later change point at the same instruction would otherwise stop the
	 * side here at once.
	 */
	if (w->there[side] && !drive_step(w->d, side))
		return DRIVE_BROKEN;
	end = point ? drive_to_access(w->d, side, &point->at.access, w->ns) : drive_to(w->d, side, 0, 0, w->ns);
	w->there[side] = end == DRIVE_THERE;
	return end;
}

enum explore_forced walk_force(struct drive *d, const struct explore_walk *walk, uint64_t ns)
{
	struct walker w = {.d = d, .walk = walk, .ns = ns};
	unsigned reached = 0, side = walk->first;

	/* Each turn uses up a change point, or lets a side run to its end, which happens once for each side. */
	for (unsigned turn = 0; turn < walk->count + 2; turn++) {
		enum drive_end end = run_on(&w, side);

		if (end == DRIVE_BROKEN)
			break;
		reached += end == DRIVE_THERE;
		if (atomic_load(&d->mark.status[!side]) < 0)
			side = !side;
	}
	return reached == walk->count ? EXPLORE_FORCED : reached ? EXPLORE_BLOCKED : EXPLORE_NOT_REACHED;
}

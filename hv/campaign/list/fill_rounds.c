// SPDX-License-Identifier: GPL-2.0-or-later
/* Fills in the figures of each round, and the coverage of the runs up to the selected rounds. */
#include <stdlib.h>

#include "hv/campaign/learn/estimate.h"
#include "hv/campaign/list/fill_internal.h"

static void fill_round(struct fill *f, size_t index)
{
	const struct store_round *from = &f->rounds.list[index];
	struct summary_round *r = &f->m->rounds[index];

	*r = (struct summary_round){.number = (unsigned)from->number,
				    .now = index >= f->from && index <= f->to,
				    .started = fill_time(f, from->started),
				    .ended = fill_time(f, from->ended),
				    .runs = (unsigned)(from->planned > from->begun ? from->planned : from->begun),
				    .done = (unsigned)from->done,
				    .broken = (unsigned)(from->done - from->ends.ok),
				    .cut_off = (unsigned)from->cut_off,
				    .races = (unsigned)from->races,
				    .fresh = (unsigned)from->new_races,
				    .hits = from->hits,
				    .windows = from->windows,
				    .conflicts = from->conflicts,
				    .explored = from->explored,
				    .trials = from->trials,
				    .untried = from->untried,
				    .sampled_ns = from->sampled_ns,
				    .lost_permille = from->lost_permille,
				    .lost_most = from->lost_most};
	for (int i = 0; i < STORE_CLASSES; i++)
		r->of_class[fill_class((enum verdict_class)i, "any")] = (unsigned)from->of_class[i];
}

int fill_rounds(struct fill *f)
{
	size_t count = f->to + 1;

	f->m->rounds = calloc(count, sizeof(*f->m->rounds));
	if (!f->m->rounds)
		return err_set(f->err, EXIT_INTERNAL, "out of memory");
	for (; f->m->round_count < count; f->m->round_count++)
		fill_round(f, f->m->round_count);
	return 0;
}

/* Count how the runs of the selected rounds ended. */
int fill_ends(struct fill *f)
{
	const char *shard = f->query->shard ? f->query->shard : "";
	struct store_ends ends;

	for (size_t i = f->from; i <= f->to; i++) {
		const struct store_round *r = &f->rounds.list[i];

		if (shard[0] && store_round_ends(f->store, r->id, shard, &ends, f->err) < 0)
			return -1;
		ends_add(&f->m->ends, shard[0] ? &ends : &r->ends);
		f->m->unfinished |= !shard[0] && (!r->ended || r->missing_shards);
		f->m->missing_shards += shard[0] ? 0 : r->missing_shards;
	}
	return 0;
}

/* ---- coverage ---- */

/*
 * Store in f->m->pool the number of sites that can be sampled: the sum over all kernel builds of the largest pool that a run of
 * the build had. Returns 0, or -1 with f->err set.
 */
static int fill_pool(struct fill *f, const struct store_coverage *covered)
{
	uint64_t *pools = calloc(covered->builds + 1, sizeof(*pools));

	if (!pools)
		return err_set(f->err, EXIT_INTERNAL, "out of memory");
	for (size_t i = 0; i < covered->count; i++) {
		uint64_t *pool = &pools[covered->list[i].build];

		*pool = covered->list[i].pool > *pool ? covered->list[i].pool : *pool;
	}
	for (size_t i = 0; i < covered->builds; i++)
		f->m->pool += pools[i];
	free(pools);
	return 0;
}

/* Returns whether the round with this id is selected. */
static bool is_now(const struct fill *f, int64_t round)
{
	for (size_t i = f->from; i <= f->to; i++) {
		if (f->rounds.list[i].id == round)
			return true;
	}
	return false;
}

static void fill_point(struct fill *f, const struct store_covered *c)
{
	const struct learn_counts counts = {
		.observed = c->pairs, .once = c->once, .twice = c->twice, .runs = f->m->point_count + 1};
	const struct learn_estimate estimate = learn_chao1(&counts);

	f->m->points[f->m->point_count++] = (struct summary_point){.round = (unsigned)c->number,
								   .now = is_now(f, c->round),
								   .sampled_ns = c->sampled_ns,
								   .sites = c->sites_hit,
								   .pairs = c->pairs,
								   .estimate = estimate.known ? estimate.pairs : 0,
								   .low = estimate.known ? estimate.low : 0,
								   .high = estimate.known ? estimate.high : 0};
}

int fill_coverage(struct fill *f)
{
	struct store_coverage covered = {0};
	int rc = store_coverage(f->store, f->rounds.list[0].campaign, f->rounds.list[f->to].id, &covered, f->err);

	if (rc == 0 && covered.count && !(f->m->points = calloc(covered.count, sizeof(*f->m->points))))
		rc = err_set(f->err, EXIT_INTERNAL, "out of memory");
	for (size_t i = 0; rc == 0 && i < covered.count; i++)
		fill_point(f, &covered.list[i]);
	if (rc == 0)
		rc = fill_pool(f, &covered);
	store_coverage_free(&covered);
	return rc;
}

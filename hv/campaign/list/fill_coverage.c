// SPDX-License-Identifier: GPL-2.0-or-later
/* What the runs up to this round covered. */
#include <stdlib.h>
#include <string.h>

#include "hv/base/order.h"
#include "hv/campaign/learn/estimate.h"
#include "hv/campaign/list/filling.h"

/* Which build of the kernel a run was of. Builds are numbered as they come. */
struct fill_run {
	int64_t run;
	unsigned build;
};

static int build_number(struct filling *f, const char *build_id, unsigned *number)
{
	const char **list;

	for (*number = 0; *number < f->build_count; (*number)++) {
		if (strcmp(f->builds[*number], build_id) == 0)
			return 0;
	}
	list = realloc(f->builds, (f->build_count + 1) * sizeof(*list));
	if (!list)
		return err_set(f->err, EXIT_INTERNAL, "out of memory");
	f->builds = list;
	list[f->build_count] = fill_text(f, build_id);
	return list[f->build_count++] ? 0 : -1;
}

int fill_note_run(struct filling *f, const struct store_run *run)
{
	struct fill_run *list;

	/* The list doubles when it is full, which it is at 0 and at each power of two. */
	if ((f->run_count & (f->run_count - 1)) == 0) {
		list = realloc(f->runs, (f->run_count ? 2 * f->run_count : 1) * sizeof(*list));
		if (!list)
			return err_set(f->err, EXIT_INTERNAL, "out of memory");
		f->runs = list;
	}
	f->runs[f->run_count].run = run->id;
	return build_number(f, run->build_id, &f->runs[f->run_count++].build);
}

static int by_run(const void *x, const void *y)
{
	const struct fill_run *a = x, *b = y;

	return order_u64((uint64_t)a->run, (uint64_t)b->run);
}

/* The sites that could be sampled are those of all builds, and in each build those of the run that had most to choose from. */
static int fill_pool(struct filling *f, const struct store_coverage *covered)
{
	uint64_t *pools = calloc(f->build_count + 1, sizeof(*pools));

	if (!pools)
		return err_set(f->err, EXIT_INTERNAL, "out of memory");
	if (f->run_count)
		qsort(f->runs, f->run_count, sizeof(*f->runs), by_run);
	for (size_t i = 0; i < covered->count; i++) {
		const struct fill_run key = {.run = covered->list[i].run};
		const struct fill_run *run = f->run_count ? bsearch(&key, f->runs, f->run_count, sizeof(key), by_run) : NULL;

		if (run && covered->list[i].pool > pools[run->build])
			pools[run->build] = covered->list[i].pool;
	}
	for (size_t i = 0; i < f->build_count; i++)
		f->m->pool += pools[i];
	free(pools);
	return 0;
}

/* Whether the round with this id is looked at. */
static bool is_now(const struct filling *f, int64_t round)
{
	for (size_t i = f->from; i <= f->to; i++) {
		if (f->rounds.list[i].id == round)
			return true;
	}
	return false;
}

static void fill_point(struct filling *f, const struct store_covered *c)
{
	const struct learn_counts counts = {
		.observed = c->pairs, .once = c->once, .twice = c->twice, .runs = f->m->point_count + 1};
	const struct learn_estimate estimate = learn_chao1(&counts);

	f->m->points[f->m->point_count++] = (struct morning_point){.round = (unsigned)c->number,
								   .now = is_now(f, c->round),
								   .sampled_ns = c->sampled_ns,
								   .sites = c->sites_hit,
								   .pairs = c->pairs,
								   .estimate = estimate.known ? estimate.pairs : 0,
								   .low = estimate.known ? estimate.low : 0,
								   .high = estimate.known ? estimate.high : 0};
}

int fill_coverage(struct filling *f)
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

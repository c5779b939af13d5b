// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes a store smaller: removes the single observations of races with a triage state, and replaces the coverage of each run by
 * sums, in rounds that are old enough.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/internal.h"
#include "hv/campaign/store/coverage_sum.h"
#include "hv/campaign/store/compress.h"
#include "hv/campaign/store/coverage_text.h"

#define SUM_ROOM (32u << 20) /* at most this many bytes of coverage text are in memory at a time */

/* ---- choose rounds ---- */

/* Returns how many rounds of the same campaign started after round `i` of the list, which is in the order of starts. */
static unsigned newer(const struct store_rounds *rounds, size_t i)
{
	unsigned count = 0;

	for (size_t k = i + 1; k < rounds->count; k++)
		count += strcmp(rounds->list[k].campaign, rounds->list[i].campaign) == 0;
	return count;
}

static bool is_old(const struct store_rounds *rounds, size_t i, const struct store_gc_plan *plan)
{
	const struct store_round *r = &rounds->list[i];
	unsigned keep = plan->keep_rounds ? plan->keep_rounds : 1;

	return r->ended && newer(rounds, i) >= keep && (!plan->before || r->started < plan->before);
}

/* ---- single observations ---- */

/*
 * The ids of the rows of `sighting` (one for each run and each race that it saw) in round $1 whose race has a triage other than
 * "new". If a race has several triage states, the latest is valid.
 */
#define TRIAGED                                                                                                          \
	"(SELECT g.id FROM sighting g JOIN build_race b ON b.id = g.build_race_id JOIN race r ON r.id = b.race_id "      \
	"WHERE g.round_id = $1 AND coalesce((SELECT t.state FROM said t JOIN race o ON o.id = t.race_id WHERE o.line = " \
	"r.line "                                                                                                        \
	"ORDER BY t.at DESC, t.state DESC, t.who DESC, t.note DESC LIMIT 1), 0) <> 0)"

static int fold_instances(struct store *s, int64_t round, bool dry_run, uint64_t *count, struct err *err)
{
	int64_t there = 0;

	if (db_number(s->db, err, &there, "SELECT count(*) FROM instance WHERE sighting_id IN " TRIAGED, "i", round) < 0)
		return -1;
	*count = (uint64_t)there;
	if (dry_run || !there)
		return 0;
	return db_exec(s->db, err, "DELETE FROM instance WHERE sighting_id IN " TRIAGED, "i", round);
}

/* ---- coverage ---- */

static int write_sum(struct store *s, int64_t round, const struct cover_row *sum, struct coverage_sum *p, struct err *err)
{
	size_t len, size;
	char *text = coverage_sum_text(p, &len, err);
	void *data = text ? record_compress(text, len, &size, err) : NULL;
	int rc = -1;

	if (data &&
	    db_run(s->db, err, "DELETE FROM cover WHERE round_id = $1 AND kernel_id = $2", "ii", round, sum->kernel) >= 0)
		rc = cover_write(s->db, round, sum, data, size, err);
	free(text);
	free(data);
	return rc;
}

static int fold_kernel(struct store *s, int64_t round, int64_t kernel, struct err *err)
{
	struct cover_row row = COVER_START, sum = {.run = 0, .kernel = kernel};
	struct coverage_sum p = {.room = SUM_ROOM};
	int rc;

	while ((rc = cover_next(s, round, kernel, &row, err)) > 0) {
		sum.runs += row.runs;
		if (coverage_sum_add(&p, row.text, err) < 0) {
			rc = -1;
			break;
		}
	}
	if (rc == 0)
		rc = write_sum(s, round, &sum, &p, err);
	coverage_sum_free(&p);
	return rc;
}

/*
 * In round `round`, replace the coverage of single runs by one sum for each kernel, one kernel after another. *count becomes
 * the number of these runs.
 */
static int fold_coverage(struct store *s, int64_t round, bool dry_run, uint64_t *count, struct err *err)
{
	int64_t there = 0, kernel = -1;
	int rc;

	if (db_number(s->db, err, &there, "SELECT count(*) FROM cover WHERE round_id = $1 AND run_id <> 0", "i", round) < 0)
		return -1;
	*count = (uint64_t)there;
	if (dry_run)
		return 0;
	do {
		rc = db_number(s->db, err, &kernel,
			       "SELECT kernel_id FROM cover WHERE round_id = $1 AND run_id <> 0 ORDER BY kernel_id LIMIT 1",
			       "i", round);
	} while (rc > 0 && (rc = fold_kernel(s, round, kernel, err)) == 0);
	return rc;
}

/* ---- fold ---- */

static int fold_round(struct store *s, const struct store_round *r, bool dry_run, struct store_freed *out, struct err *err)
{
	uint64_t instances = 0, coverage = 0;
	int rc = db_begin(s->db, !dry_run, err);

	if (rc < 0)
		return -1;
	rc = fold_instances(s, r->id, dry_run, &instances, err);
	if (rc == 0)
		rc = fold_coverage(s, r->id, dry_run, &coverage, err);
	if (rc == 0 && !dry_run)
		rc = db_commit(s->db, err);
	else
		db_rollback(s->db);
	if (rc < 0)
		return -1;
	out->rounds += instances || coverage;
	out->instances += instances;
	out->coverage += coverage;
	return 0;
}

int store_gc(struct store *s, const struct store_gc_plan *plan, struct store_freed *out, struct err *err)
{
	struct store_rounds rounds;
	int64_t before = db_size(s->db, err), after = before;
	int rc = 0;

	*out = (struct store_freed){0};
	if (before < 0 || store_rounds(s, &(struct store_rounds_query){0}, &rounds, err) < 0)
		return -1;
	for (size_t i = 0; i < rounds.count && rc == 0; i++) {
		if (is_old(&rounds, i, plan))
			rc = fold_round(s, &rounds.list[i], plan->dry_run, out, err);
	}
	store_rounds_free(&rounds);
	if (rc == 0 && !plan->dry_run && out->rounds) {
		rc = db_shrink(s->db, err);
		after = rc == 0 ? db_size(s->db, err) : -1;
	}
	out->bytes = before - after;
	return rc < 0 || after < 0 ? -1 : 0;
}

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

#define SUM_ROOM (32u << 20) /* at most this many bytes of coverage text are in memory at a time */

/* ---- choose rounds ---- */

/* Returns the number of later rounds of the same campaign. The list is in the order of starts. */
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

/*
 * Add the coverage of the next run after *after to the sum, and set *after to its id. Returns 1, 0 after the last run, or -1.
 */
static int coverage_sum_next(struct store *s, int64_t round, int64_t kernel, int64_t *after, struct coverage_sum *p,
			     int64_t *runs, struct err *err)
{
	/* Each query reads only one row, because libpq holds the whole result in memory. */
	struct db_rows *rows =
		db_query(s->db, err,
			 "SELECT run_id, runs, data FROM cover WHERE round_id = $1 AND kernel_id = $2 AND run_id > $3 "
			 "ORDER BY run_id LIMIT 1",
			 "iii", round, kernel, *after);
	int rc = db_next(rows, err);

	if (rc > 0) {
		size_t size;
		const void *data = db_bytes(rows, 2, &size);
		char *text = record_decompress(data, size, store_where(s), err);

		/*
		 * Refuse a row that does not come after *after. In a damaged SQLite file a run_id can be text, which sorts
		 * after all numbers, and the same row would come for ever.
		 */
		if (text && db_int(rows, 0) <= *after) {
			free(text);
			text = NULL;
			err_set(err, EXIT_INPUT, "%s: the store is damaged: coverage belongs to no run", store_where(s));
		}
		*after = db_int(rows, 0);
		*runs += db_int(rows, 1);
		if (!text || coverage_sum_add(p, text, err) < 0)
			rc = -1;
	}
	db_rows_end(rows);
	return rc;
}

static int write_sum(struct store *s, int64_t round, int64_t kernel, struct coverage_sum *p, int64_t runs, struct err *err)
{
	size_t len, size;
	char *text = coverage_sum_text(p, &len, err);
	void *data = text ? record_compress(text, len, &size, err) : NULL;
	int rc = -1;

	if (data && db_run(s->db, err, "DELETE FROM cover WHERE round_id = $1 AND kernel_id = $2", "ii", round, kernel) >= 0 &&
	    db_run(s->db, err, "INSERT INTO cover (round_id, run_id, kernel_id, runs, data) VALUES ($1, 0, $2, $3, $4)", "iiib",
		   round, kernel, runs, data, size) >= 0)
		rc = 0;
	free(text);
	free(data);
	return rc;
}

static int fold_kernel(struct store *s, int64_t round, int64_t kernel, struct err *err)
{
	struct coverage_sum p = {.room = SUM_ROOM};
	int64_t after = INT64_MIN, runs = 0;
	int rc;

	do {
		rc = coverage_sum_next(s, round, kernel, &after, &p, &runs, err);
	} while (rc > 0);
	if (rc == 0)
		rc = write_sum(s, round, kernel, &p, runs, err);
	coverage_sum_free(&p);
	return rc;
}

/* Fold the coverage of one kernel after another, until no row of a single run is left. */
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

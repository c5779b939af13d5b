// SPDX-License-Identifier: GPL-2.0-or-later
/* Merges one store into another, run by run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/coverage_text.h"
#include "hv/campaign/store/run_data.h"
#include "hv/campaign/store/internal.h"
#include "hv/campaign/store/compress.h"

struct merging {
	struct store *into, *from;
	struct store_merged *out;
};

/* ---- rounds ---- */

/* Insert the round into `into` if it is not there yet, and set *id to the round's id in `into`. */
static int merge_round(struct merging *m, const struct store_round *r, int64_t *id, struct err *err)
{
	int64_t made = db_run(m->into->db, err,
			      "INSERT INTO round (uuid, campaign, number, plan_hash, started) VALUES ($1, $2, $3, $4, $5) "
			      "ON CONFLICT (uuid) DO NOTHING",
			      "ttiti", r->uuid, r->campaign, (int64_t)r->number, r->plan_hash, r->started);

	if (made < 0 || db_run(m->into->db, err, "UPDATE round SET started = $1 WHERE uuid = $2 AND started > $1", "it",
			       r->started, r->uuid) < 0)
		return -1;
	m->out->rounds += (uint64_t)made;
	return db_number(m->into->db, err, id, "SELECT id FROM round WHERE uuid = $1", "t", r->uuid) < 0 ? -1 : 0;
}

static int merge_parts(struct merging *m, const struct store_round *r, int64_t into, struct err *err)
{
	struct db_rows *rows =
		db_query(m->from->db, err, "SELECT shard, planned, started, ended FROM part WHERE round_id = $1", "i", r->id);
	int rc = db_next(rows, err);

	for (; rc > 0; rc = db_next(rows, err)) {
		if (db_run(m->into->db, err,
			   "INSERT INTO part (round_id, shard, planned, started, ended) VALUES ($1, $2, $3, $4, $5) "
			   "ON CONFLICT (round_id, shard) DO UPDATE SET "
			   "planned = CASE WHEN part.planned > excluded.planned THEN part.planned ELSE excluded.planned END, "
			   "started = CASE WHEN part.started < excluded.started THEN part.started ELSE excluded.started END, "
			   "ended = CASE WHEN part.ended > excluded.ended THEN part.ended ELSE excluded.ended END",
			   "itiii", into, db_text(rows, 0), db_int(rows, 1), db_int(rows, 2), db_int(rows, 3)) < 0) {
			rc = -1;
			break;
		}
	}
	db_rows_end(rows);
	return rc;
}

/* ---- folded coverage ---- */

/*
 * Merge a folded row of coverage, which is the sum over several runs and cannot be split. It is added only if `into` has no
 * coverage of this round and kernel yet, so that no run is added twice. This check is enough: no run's coverage is in the sums
 * of `into` without being in a row of `cover`.
 */
static int merge_folded(struct merging *m, const struct store_round *r, int64_t into, const struct db_rows *row,
			struct err *err)
{
	int64_t kernel, runs = db_int(row, 2), there = 0, same = 0;
	size_t size;
	const void *data = db_bytes(row, 3, &size);
	char *text;
	int rc;

	if (kernel_id(m->into->db, db_text(row, 0), db_text(row, 1), &kernel, err) < 0 ||
	    db_number(m->into->db, err, &there, "SELECT count(*) FROM cover WHERE round_id = $1 AND kernel_id = $2", "ii", into,
		      kernel) < 0 ||
	    db_number(m->into->db, err, &same,
		      "SELECT count(*) FROM cover WHERE round_id = $1 AND kernel_id = $2 AND run_id = 0 AND data = $3", "iib",
		      into, kernel, data, size) < 0)
		return -1;
	if (there && !same)
		m->out->coverage_left += (uint64_t)runs;
	if (there)
		return 0;
	text = record_decompress(data, size, store_where(m->from), err);
	if (!text)
		return -1;
	rc = coverage_text_add(m->into->db, text, kernel, runs, r->started, err);
	free(text);
	if (rc < 0)
		return -1;
	return db_exec(m->into->db, err,
		       "INSERT INTO cover (round_id, run_id, kernel_id, runs, data) VALUES ($1, 0, $2, $3, $4)", "iiib", into,
		       kernel, runs, data, size);
}

static int merge_all_folded(struct merging *m, const struct store_round *r, int64_t into, struct err *err)
{
	struct db_rows *rows = db_query(
		m->from->db, err,
		"SELECT coalesce(k.build_id, ''), coalesce(k.banner, ''), c.runs, c.data FROM cover c LEFT JOIN kernel k "
		"ON k.id = c.kernel_id WHERE c.round_id = $1 AND c.run_id = 0",
		"i", r->id);
	int rc = db_next(rows, err);

	for (; rc > 0; rc = db_next(rows, err)) {
		if (merge_folded(m, r, into, rows, err) < 0) {
			rc = -1;
			break;
		}
	}
	db_rows_end(rows);
	return rc;
}

/* Merge the data of a round apart from its runs. */
static int merge_head(struct merging *m, const struct store_round *r, int64_t *into, struct err *err)
{
	if (db_begin(m->into->db, true, err) < 0)
		return -1;
	if (merge_round(m, r, into, err) == 0 && merge_parts(m, r, *into, err) == 0 && merge_all_folded(m, r, *into, err) == 0)
		return db_commit(m->into->db, err);
	db_rollback(m->into->db);
	return -1;
}

/* ---- runs ---- */

static int insert_run(struct merging *m, const struct store_run *r, int64_t round, struct err *err)
{
	char seed[24];

	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)r->seed);
	return db_exec(m->into->db, err,
		       "INSERT INTO run (uuid, round_id, cell, kernel, image, workload, sampling, seed, engine, "
		       "command, folder, shard, state, outcome, detail, started, ended, kernel_id, hits, windows, "
		       "conflicts, sampled_ns, lost_permille, pool) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, "
		       "$11, $12, $13, $14, $15, $16, $17, 0, 0, 0, 0, 0, -1, 0) ON CONFLICT (uuid) DO UPDATE SET "
		       "state = excluded.state, outcome = excluded.outcome, detail = excluded.detail, command = "
		       "excluded.command, folder = excluded.folder, shard = excluded.shard, started = "
		       "excluded.started, ended = excluded.ended",
		       "tittttttttttiitii", r->uuid, round, r->key, r->kernel, r->image, r->workload, r->sampling, seed,
		       r->engine, r->command, r->folder, r->shard, (int64_t)r->state, (int64_t)r->outcome, r->detail,
		       r->started, r->ended);
}

static int copy_findings(struct merging *m, const struct store_run *r, int64_t into, struct err *err)
{
	struct db_rows *rows =
		db_query(m->from->db, err, "SELECT number, kind, line, file FROM finding WHERE run_id = $1", "i", r->id);
	int rc = db_next(rows, err);

	for (; rc > 0; rc = db_next(rows, err)) {
		if (db_run(m->into->db, err,
			   "INSERT INTO finding (run_id, number, kind, line, file) VALUES ($1, $2, $3, $4, $5)", "iittt", into,
			   db_int(rows, 0), db_text(rows, 1), db_text(rows, 2), db_text(rows, 3)) < 0) {
			rc = -1;
			break;
		}
	}
	db_rows_end(rows);
	return rc;
}

static int write_run(struct merging *m, const struct store_run *r, int64_t round, const struct run_data *d, struct err *err)
{
	struct run_data_run run = {.round = round, .uuid = r->uuid, .started = r->started};
	int64_t state = -1;

	/* Read the state again: another process may have written the run since merge_run() read it. */
	if (db_number(m->into->db, err, &state, "SELECT state FROM run WHERE uuid = $1", "t", r->uuid) < 0)
		return -1;
	if (state == STORE_DONE || (int64_t)r->state == state)
		return 0;
	if (insert_run(m, r, round, err) < 0 ||
	    db_number(m->into->db, err, &run.id, "SELECT id FROM run WHERE uuid = $1", "t", r->uuid) < 0)
		return -1;
	if (r->state != STORE_DONE)
		return 0;
	m->out->runs++;
	return copy_findings(m, r, run.id, err) < 0 ? -1 : run_data_write(m->into->db, d, &run, err);
}

static int merge_run(struct merging *m, const struct store_run *r, int64_t round, struct err *err)
{
	struct run_data d;
	int64_t done = 0;
	int rc = db_number(m->into->db, err, &done, "SELECT count(*) FROM run WHERE uuid = $1 AND state = 1", "t", r->uuid);

	if (rc < 0 || done)
		return rc < 0 ? -1 : 0;
	rc = run_data_init(&d, err);
	if (rc == 0 && r->state == STORE_DONE)
		rc = run_data_fetch(&d, m->from, r->id, err);
	if (rc == 0)
		rc = db_begin(m->into->db, true, err);
	if (rc == 0)
		rc = db_end(m->into->db, write_run(m, r, round, &d, err), err);
	run_data_free(&d);
	return rc;
}

static int merge_runs(struct merging *m, const struct store_round *r, int64_t round, struct err *err)
{
	struct store_runs runs;
	int rc = store_runs(m->from, r->id, &runs, err);

	for (size_t i = 0; i < runs.count && rc == 0; i++)
		rc = merge_run(m, &runs.list[i], round, err);
	store_runs_free(&runs);
	return rc;
}

/* ---- triage ---- */

static int merge_said(struct merging *m, struct err *err)
{
	struct db_rows *rows =
		db_query(m->from->db, err,
			 "SELECT r.identity, s.at, s.state, s.who, s.note FROM said s JOIN race r ON r.id = s.race_id "
			 "ORDER BY s.at, r.identity, s.state, s.who, s.note",
			 "");
	int rc = db_next(rows, err);

	for (; rc > 0; rc = db_next(rows, err)) {
		int64_t made = db_run(
			m->into->db, err,
			"INSERT INTO said (race_id, at, state, who, note) SELECT id, CAST($2 AS BIGINT), CAST($3 AS SMALLINT), "
			"$4, $5 FROM race WHERE identity = $1 ON CONFLICT (race_id, at, state, who, note) DO NOTHING",
			"tiitt", db_text(rows, 0), db_int(rows, 1), db_int(rows, 2), db_text(rows, 3), db_text(rows, 4));

		if (made < 0) {
			rc = -1;
			break;
		}
		m->out->triage += (uint64_t)made;
	}
	db_rows_end(rows);
	return rc;
}

/*
 * Merge the kernel versions that have the fixes of races. Call it after the triage entries that name these versions are merged.
 */
static int merge_mended(struct merging *m, struct err *err)
{
	struct db_rows *rows = db_query(
		m->from->db, err,
		"SELECT r.identity, s.at, s.state, s.who, s.note, v.version FROM mended v JOIN said s ON s.id = v.said_id "
		"JOIN race r ON r.id = s.race_id ORDER BY s.at, r.identity, s.state, s.who, s.note, v.version",
		"");
	int rc = db_next(rows, err);

	for (; rc > 0; rc = db_next(rows, err)) {
		if (db_run(m->into->db, err,
			   "INSERT INTO mended (said_id, version) SELECT s.id, $6 FROM said s JOIN race r ON r.id = s.race_id "
			   "WHERE r.identity = $1 AND s.at = $2 AND s.state = $3 AND s.who = $4 AND s.note = $5 "
			   "ON CONFLICT (said_id, version) DO NOTHING",
			   "tiittt", db_text(rows, 0), db_int(rows, 1), db_int(rows, 2), db_text(rows, 3), db_text(rows, 4),
			   db_text(rows, 5)) < 0) {
			rc = -1;
			break;
		}
	}
	db_rows_end(rows);
	return rc;
}

static int merge_triage(struct merging *m, struct err *err)
{
	return merge_said(m, err) < 0 ? -1 : merge_mended(m, err);
}

static int merge_all_triage(struct merging *m, struct err *err)
{
	if (db_begin(m->into->db, true, err) < 0)
		return -1;
	return db_end(m->into->db, merge_triage(m, err), err);
}

static int race_count(struct store *s, int64_t *count, struct err *err)
{
	return db_number(s->db, err, count, "SELECT count(*) FROM race", "") < 0 ? -1 : 0;
}

int store_merge(struct store *into, struct store *from, struct store_merged *out, struct err *err)
{
	struct merging m = {into, from, out};
	struct store_rounds rounds = {0};
	int64_t before = 0, after = 0, round = 0;
	int rc;

	*out = (struct store_merged){0};
	/* Check all of `from` for damage. This reads it completely, but the merge does so anyway. */
	if (db_sound(from->db, err) < 0)
		return -1;
	if (race_count(into, &before, err) < 0 || store_rounds(from, &(struct store_rounds_query){0}, &rounds, err) < 0)
		return -1;
	rc = 0;
	for (size_t i = 0; i < rounds.count && rc == 0; i++) {
		rc = merge_head(&m, &rounds.list[i], &round, err);
		if (rc == 0)
			rc = merge_runs(&m, &rounds.list[i], round, err);
	}
	if (rc == 0)
		rc = merge_all_triage(&m, err);
	if (rc == 0)
		rc = race_count(into, &after, err);
	out->races = (uint64_t)(after - before);
	store_rounds_free(&rounds);
	return rc;
}

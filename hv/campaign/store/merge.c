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
	/* The round and the run that are being merged, as `from` has them; and their ids in `into`. */
	const struct store_round *round;
	const struct store_run *run;
	int64_t round_id, run_id;
};

/* ---- rounds ---- */

/* Insert the round into `into` if it is not there yet, and set m->round_id. */
static int merge_round(struct merging *m, struct err *err)
{
	const struct store_round *r = m->round;
	int made = store_round_write(m->into->db, r->uuid, r->campaign, (int64_t)r->number, r->plan_hash, r->started,
				     &m->round_id, err);

	if (made < 0)
		return -1;
	m->out->rounds += (uint64_t)made;
	return db_exec(m->into->db, err, "UPDATE round SET started = $1 WHERE uuid = $2 AND started > $1", "it", r->started,
		       r->uuid);
}

static int merge_part(const struct db_rows *rows, void *ctx, struct err *err)
{
	const struct merging *m = ctx;

	return db_exec(m->into->db, err,
		       "INSERT INTO part (round_id, shard, planned, started, ended) VALUES ($1, $2, $3, $4, $5) "
		       "ON CONFLICT (round_id, shard) DO UPDATE SET "
		       "planned = CASE WHEN part.planned > excluded.planned THEN part.planned ELSE excluded.planned END, "
		       "started = CASE WHEN part.started < excluded.started THEN part.started ELSE excluded.started END, "
		       "ended = CASE WHEN part.ended > excluded.ended THEN part.ended ELSE excluded.ended END",
		       "itiii", m->round_id, db_text(rows, 0), db_int(rows, 1), db_int(rows, 2), db_int(rows, 3));
}

/* ---- folded coverage ---- */

/*
 * Merge a folded row of coverage, which is the sum over several runs and cannot be split. Add the row only if `into` has no row
 * of `cover` for this round and kernel yet, so that no run is added twice. This check is enough, because `into` has such a row
 * for each run whose coverage is in its sums.
 */
static int merge_folded(const struct db_rows *row, void *ctx, struct err *err)
{
	struct merging *m = ctx;
	struct cover_row cover = {.run = 0, .runs = db_int(row, 2)};
	struct db *into = m->into->db;
	int64_t there = 0, same = 0;
	size_t size;
	const void *data = db_bytes(row, 3, &size);
	char *text;
	int rc;

	if (kernel_id(into, db_text(row, 0), db_text(row, 1), &cover.kernel, err) < 0 ||
	    db_number(into, err, &there, "SELECT count(*) FROM cover WHERE round_id = $1 AND kernel_id = $2", "ii", m->round_id,
		      cover.kernel) < 0 ||
	    db_number(into, err, &same,
		      "SELECT count(*) FROM cover WHERE round_id = $1 AND kernel_id = $2 AND run_id = 0 AND data = $3", "iib",
		      m->round_id, cover.kernel, data, size) < 0)
		return -1;
	if (there && !same)
		m->out->coverage_left += (uint64_t)cover.runs;
	if (there)
		return 0;
	text = record_decompress(data, size, store_where(m->from), err);
	if (!text)
		return -1;
	rc = coverage_text_add(into, text, cover.kernel, cover.runs, m->round->started, err);
	free(text);
	return rc < 0 ? -1 : cover_write(into, m->round_id, &cover, data, size, err);
}

/* Merge the data of a round without its runs: the round itself, its shards and its folded coverage. */
static int merge_head(struct merging *m, struct err *err)
{
	static const char parts_sql[] = "SELECT shard, planned, started, ended FROM part WHERE round_id = $1";
	static const char folded_sql[] =
		"SELECT coalesce(k.build_id, ''), coalesce(k.banner, ''), c.runs, c.data FROM cover c LEFT JOIN kernel k "
		"ON k.id = c.kernel_id WHERE c.round_id = $1 AND c.run_id = 0";
	struct db *from = m->from->db;
	int rc;

	if (db_begin(m->into->db, true, err) < 0)
		return -1;
	rc = merge_round(m, err);
	if (rc == 0)
		rc = db_each(db_query(from, err, parts_sql, "i", m->round->id), merge_part, m, err);
	if (rc == 0)
		rc = db_each(db_query(from, err, folded_sql, "i", m->round->id), merge_folded, m, err);
	return db_end(m->into->db, rc, err);
}

/* ---- runs ---- */

static int merge_finding(const struct db_rows *rows, void *ctx, struct err *err)
{
	const struct merging *m = ctx;
	const struct store_finding finding = {db_text(rows, 1), db_text(rows, 2), db_text(rows, 3)};

	return store_finding_write(m->into->db, m->run_id, db_int(rows, 0), &finding, err);
}

static int write_run(struct merging *m, const struct run_data *d, struct err *err)
{
	static const char findings_sql[] = "SELECT number, kind, line, file FROM finding WHERE run_id = $1";
	struct store_run run = *m->run;
	int64_t state = -1;

	/* Read the state again: another process may have written the run since merge_run() read it. */
	if (db_number(m->into->db, err, &state, "SELECT state FROM run WHERE uuid = $1", "t", run.uuid) < 0)
		return -1;
	if (state == STORE_DONE || (int64_t)run.state == state)
		return 0;
	run.round = m->round_id;
	if (store_run_write(m->into->db, &run, &m->run_id, err) < 0)
		return -1;
	if (run.state != STORE_DONE)
		return 0;
	m->out->runs++;
	if (db_each(db_query(m->from->db, err, findings_sql, "i", run.id), merge_finding, m, err) < 0)
		return -1;
	return run_data_write(m->into->db, d, &(struct run_data_run){m->run_id, run.round, run.uuid, run.started}, err);
}

static int merge_run(struct merging *m, struct err *err)
{
	const struct store_run *r = m->run;
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
		rc = db_end(m->into->db, write_run(m, &d, err), err);
	run_data_free(&d);
	return rc;
}

static int merge_runs(struct merging *m, struct err *err)
{
	struct store_runs runs;
	int rc = store_runs(m->from, m->round->id, &runs, err);
	const struct store_run *list = runs.list;

	for (size_t i = 0; i < runs.count && rc == 0; i++) {
		m->run = &list[i];
		rc = merge_run(m, err);
	}
	store_runs_free(&runs);
	return rc;
}

/* ---- triage ---- */

static int merge_said(const struct db_rows *rows, void *ctx, struct err *err)
{
	const struct merging *m = ctx;
	int64_t made =
		db_run(m->into->db, err,
		       "INSERT INTO said (race_id, at, state, who, note) SELECT id, CAST($2 AS BIGINT), CAST($3 AS SMALLINT), "
		       "$4, $5 FROM race WHERE identity = $1 ON CONFLICT (race_id, at, state, who, note) DO NOTHING",
		       "tiitt", db_text(rows, 0), db_int(rows, 1), db_int(rows, 2), db_text(rows, 3), db_text(rows, 4));

	m->out->triage += made > 0 ? (uint64_t)made : 0;
	return made < 0 ? -1 : 0;
}

static int merge_mended(const struct db_rows *rows, void *ctx, struct err *err)
{
	const struct merging *m = ctx;

	return db_exec(m->into->db, err,
		       "INSERT INTO mended (said_id, version) SELECT s.id, $6 FROM said s JOIN race r ON r.id = s.race_id "
		       "WHERE r.identity = $1 AND s.at = $2 AND s.state = $3 AND s.who = $4 AND s.note = $5 "
		       "ON CONFLICT (said_id, version) DO NOTHING",
		       "tiittt", db_text(rows, 0), db_int(rows, 1), db_int(rows, 2), db_text(rows, 3), db_text(rows, 4),
		       db_text(rows, 5));
}

/*
 * Merge the triage entries, and then the kernel versions that have the fixes of races: each such version belongs to an entry.
 */
static int merge_triage(struct merging *m, struct err *err)
{
	static const char said_sql[] =
		"SELECT r.identity, s.at, s.state, s.who, s.note FROM said s JOIN race r ON r.id = s.race_id "
		"ORDER BY s.at, r.identity, s.state, s.who, s.note";
	static const char mended_sql[] =
		"SELECT r.identity, s.at, s.state, s.who, s.note, v.version FROM mended v JOIN said s ON s.id = v.said_id "
		"JOIN race r ON r.id = s.race_id ORDER BY s.at, r.identity, s.state, s.who, s.note, v.version";
	int rc;

	if (db_begin(m->into->db, true, err) < 0)
		return -1;
	rc = db_each(db_query(m->from->db, err, said_sql, ""), merge_said, m, err);
	if (rc == 0)
		rc = db_each(db_query(m->from->db, err, mended_sql, ""), merge_mended, m, err);
	return db_end(m->into->db, rc, err);
}

static int race_count(struct store *s, int64_t *count, struct err *err)
{
	return db_number(s->db, err, count, "SELECT count(*) FROM race", "") < 0 ? -1 : 0;
}

int store_merge(struct store *into, struct store *from, struct store_merged *out, struct err *err)
{
	struct merging m = {.into = into, .from = from, .out = out};
	struct store_rounds rounds = {0};
	int64_t before = 0, after = 0;
	int rc;

	*out = (struct store_merged){0};
	/* Check all of `from` for damage. This reads the whole database, but the merge does so anyway. */
	if (db_sound(from->db, err) < 0)
		return -1;
	if (race_count(into, &before, err) < 0 || store_rounds(from, &(struct store_rounds_query){0}, &rounds, err) < 0)
		return -1;
	rc = 0;
	for (size_t i = 0; i < rounds.count && rc == 0; i++) {
		m.round = &rounds.list[i];
		rc = merge_head(&m, err);
		if (rc == 0)
			rc = merge_runs(&m, err);
	}
	if (rc == 0)
		rc = merge_triage(&m, err);
	if (rc == 0)
		rc = race_count(into, &after, err);
	out->races = (uint64_t)(after - before);
	store_rounds_free(&rounds);
	return rc;
}

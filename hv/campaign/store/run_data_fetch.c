// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the data of one run from a store, to write them to another store. */
#include "hv/campaign/store/run_data.h"

#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/internal.h"
#include "hv/campaign/store/compress.h"

static int fetch_run(struct run_data *d, struct store *from, int64_t run, struct err *err)
{
	struct db_rows *rows =
		db_query(from->db, err,
			 "SELECT coalesce(k.build_id, ''), coalesce(k.banner, ''), u.hits, u.windows, u.conflicts, "
			 "u.sampled_ns, u.lost_permille, u.pool FROM run u LEFT JOIN kernel k ON k.id = u.kernel_id "
			 "WHERE u.id = $1",
			 "i", run);
	int rc = db_next(rows, err);

	if (rc > 0)
		store_columns(rows, 0, d->text, "ttiiiiii", &d->build_id, &d->banner, &d->hits, &d->windows, &d->conflicts,
			      &d->sampled_ns, &d->lost_permille, &d->pool);
	db_rows_end(rows);
	return rc < 0 ? -1 : 0;
}

/* ---- races ---- */

static void fetch_key(struct store_key *key, const struct db_rows *rows, int at, struct store_text *text)
{
	store_side_columns(rows, at, text, key->sides);
	store_columns(rows, at + 8, text, "tt", &key->datum, &key->place);
	store_key_seal(key, text);
}

static const char races_sql[] =
	"SELECT g.id, b.report, b.site0, b.site1, g.seen, g.first_ns, g.last_ns, v.class, v.rank, v.rule, v.evidence, "
	"v.suppressed, "
	"r.function0, r.module0, r.kind0, r.file0, r.function1, r.module1, r.kind1, r.file1, r.datum, r.place, r.id FROM "
	"sighting g "
	"JOIN build_race b ON b.id = g.build_race_id JOIN race r ON r.id = b.race_id JOIN verdict v ON v.id = g.verdict_id "
	"WHERE g.run_id = $1 ORDER BY r.identity, b.report";

/* The ids in `from` of a race, and of the row of `sighting` that says that the run saw it. */
struct fetched {
	int64_t race, sighting;
};

static int fetch_race(struct run_data *d, const struct db_rows *rows, struct fetched **fetched, struct err *err)
{
	size_t count = d->race_count;
	struct run_data_race *r = store_grow(&d->races, &d->race_count, sizeof(*r), err);
	struct fetched *t = r ? store_grow(fetched, &count, sizeof(*t), err) : NULL;
	struct store_text *text = d->text;

	if (!t)
		return -1;
	*t = (struct fetched){db_int(rows, 22), db_int(rows, 0)};
	store_columns(rows, 1, text, "tttiii", &r->report, &r->site[0], &r->site[1], &r->seen, &r->first_ns, &r->last_ns);
	r->verdict.class = store_class_of(db_int(rows, 7));
	store_columns(rows, 8, text, "nttt", &r->verdict.rank, &r->verdict.rule, &r->verdict.evidence, &r->verdict.suppressed);
	fetch_key(&r->key, rows, 12, text);
	return text_failed(text, err) ? -1 : 0;
}

static int fetch_instance(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct run_data_race *r = ctx;
	struct run_data_instance *in = store_grow(&r->instances, &r->instance_count, sizeof(*in), err);

	if (in)
		store_columns(rows, 0, NULL, "iiiii", &in->how, &in->cpu[0], &in->cpu[1], &in->time_ns, &in->held_ns);
	return in ? 0 : -1;
}

static int fetch_instances(struct run_data_race *r, struct store *from, int64_t sighting, struct err *err)
{
	static const char sql[] =
		"SELECT how, cpu0, cpu1, time_ns, held_ns FROM instance WHERE sighting_id = $1 ORDER BY number";

	return db_each(db_query(from->db, err, sql, "i", sighting), fetch_instance, r, err);
}

/* Fetch the record of the race if the record is from this run. */
static int fetch_record(struct run_data_race *r, struct store *from, int64_t race, int64_t run, struct err *err)
{
	struct db_rows *rows =
		db_query(from->db, err,
			 "SELECT c.data FROM record c JOIN run u ON u.uuid = c.run_uuid WHERE c.race_id = $1 AND u.id = $2 AND "
			 "c.report = $3 LIMIT 1",
			 "iit", race, run, r->report);
	int rc = db_next(rows, err);

	if (rc > 0) {
		const void *data = db_bytes(rows, 0, &r->record_size);

		r->record = malloc(r->record_size + 1);
		if (r->record)
			memcpy(r->record, data, r->record_size);
		else
			rc = err_set(err, EXIT_INTERNAL, "out of memory");
	}
	db_rows_end(rows);
	return rc < 0 ? -1 : 0;
}

static int fetch_places(struct run_data *d, struct run_data_race *r, struct store *from, int64_t race, struct err *err)
{
	struct db_rows *rows =
		db_query(from->db, err, "SELECT place FROM race_place WHERE race_id = $1 ORDER BY place", "i", race);
	int rc = db_next(rows, err);

	for (; rc > 0; rc = db_next(rows, err)) {
		const char **place = store_grow(&r->places, &r->place_count, sizeof(*place), err);

		if (!place) {
			rc = -1;
			break;
		}
		*place = text_copy(d->text, db_text(rows, 0));
		/*
		 * Check for lost strings after each race. A crafted file needs few rows to fill the memory: each of its races
		 * can refer to the same places.
		 */
		if (text_failed(d->text, err)) {
			rc = -1;
			break;
		}
	}
	db_rows_end(rows);
	return rc;
}

static int fetch_races(struct run_data *d, struct store *from, int64_t run, struct err *err)
{
	struct db_rows *rows = db_query(from->db, err, races_sql, "i", run);
	struct fetched *fetched = NULL;
	int rc = db_next(rows, err);

	for (; rc > 0; rc = db_next(rows, err)) {
		if (fetch_race(d, rows, &fetched, err) < 0) {
			rc = -1;
			break;
		}
	}
	db_rows_end(rows);
	for (size_t i = 0; i < d->race_count && rc == 0; i++) {
		struct run_data_race *r = &d->races[i];

		rc = fetch_instances(r, from, fetched[i].sighting, err);
		if (rc == 0)
			rc = fetch_record(r, from, fetched[i].race, run, err);
		if (rc == 0)
			rc = fetch_places(d, r, from, fetched[i].race, err);
	}
	free(fetched);
	return rc;
}

/* ---- coverage ---- */

static int fetch_cover(struct run_data *d, struct store *from, int64_t run, struct err *err)
{
	/* Give round_id in the query as well, because the index begins with it. */
	struct db_rows *rows = db_query(
		from->db, err,
		"SELECT data FROM cover WHERE run_id = $1 AND round_id = (SELECT round_id FROM run WHERE id = $1)", "i", run);
	int rc = db_next(rows, err);

	if (rc > 0) {
		size_t size;
		const void *data = db_bytes(rows, 0, &size);

		d->coverage.text = record_decompress(data, size, store_where(from), err);
		if (d->coverage.text)
			d->coverage.len = strlen(d->coverage.text);
		else
			rc = -1;
	}
	db_rows_end(rows);
	return rc < 0 ? -1 : 0;
}

int run_data_fetch(struct run_data *d, struct store *from, int64_t run, struct err *err)
{
	int rc;

	if (db_begin(from->db, false, err) < 0)
		return -1;
	rc = fetch_run(d, from, run, err);
	if (rc == 0)
		rc = fetch_races(d, from, run, err);
	if (rc == 0)
		rc = fetch_cover(d, from, run, err);
	db_rollback(from->db);
	return rc == 0 && text_failed(d->text, err) ? -1 : rc;
}

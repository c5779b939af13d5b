// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the data of one run from a store, to write them to another store. */
#include "hv/campaign/store/run_data.h"

#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/internal.h"
#include "hv/campaign/store/compress.h"
#include "hv/campaign/store/explored.h"

static int fetch_run(struct run_data *d, struct store *from, int64_t run, struct err *err)
{
	struct db_rows *rows =
		db_query(from->db, err,
			 "SELECT coalesce(k.build_id, ''), coalesce(k.banner, ''), u.hits, u.windows, u.conflicts, "
			 "u.sampled_ns, u.lost_permille, u.pool FROM run u LEFT JOIN kernel k ON k.id = u.kernel_id "
			 "WHERE u.id = $1",
			 "i", run);
	int rc = store_row(rows, d->text, err, "ttiiiiii", &d->build_id, &d->banner, &d->hits, &d->windows, &d->conflicts,
			   &d->sampled_ns, &d->lost_permille, &d->pool);

	return rc < 0 ? -1 : 0;
}

/* ---- races ---- */

static const char races_sql[] =
	"SELECT g.id, b.report, b.site0, b.site1, g.seen, g.first_ns, g.last_ns, v.class, v.rank, v.rule, v.evidence, "
	"v.suppressed, "
	"r.function0, r.module0, r.kind0, r.file0, r.function1, r.module1, r.kind1, r.file1, r.datum, r.place, r.id FROM "
	"sighting g "
	"JOIN build_race b ON b.id = g.build_race_id JOIN race r ON r.id = b.race_id JOIN verdict v ON v.id = g.verdict_id "
	"WHERE g.run_id = $1 ORDER BY r.identity, b.report";

struct fetch {
	struct run_data *d;
	struct store *from;
	int64_t run;
	struct run_data_race *race; /* the race that is being fetched */
};

static int fetch_instance(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct run_data_race *r = ((struct fetch *)ctx)->race;
	struct run_data_instance *in = list_grow(&r->instances, &r->instance_count, sizeof(*in), err);

	if (in)
		store_columns(rows, 0, NULL, "iiiii", &in->how, &in->cpu[0], &in->cpu[1], &in->time_ns, &in->held_ns);
	return in ? 0 : -1;
}

static int fetch_place(const struct db_rows *rows, void *ctx, struct err *err)
{
	const struct fetch *f = ctx;
	const char **place = list_grow(&f->race->places, &f->race->place_count, sizeof(*place), err);

	if (!place)
		return -1;
	*place = text_copy(f->d->text, db_text(rows, 0));
	/*
	 * Check after each place of the datum that no string was lost for lack of room (text_failed()). A crafted file needs
	 * few rows to fill the memory, because many of its races can refer to the same places.
	 */
	return text_failed(f->d->text, err) ? -1 : 0;
}

static const char instances_sql[] =
	"SELECT how, cpu0, cpu1, time_ns, held_ns FROM instance WHERE sighting_id = $1 ORDER BY number";
/* Selects the record of a race if it is from this run. */
static const char record_sql[] = "SELECT c.data FROM record c JOIN run u ON u.uuid = c.run_uuid WHERE c.race_id = $1 AND "
				 "u.id = $2 AND c.report = $3 LIMIT 1";
static const char places_sql[] = "SELECT place FROM race_place WHERE race_id = $1 ORDER BY place";

static int fetch_race(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct fetch *f = ctx;
	struct run_data_race *r = list_grow(&f->d->races, &f->d->race_count, sizeof(*r), err);
	struct store_text *text = f->d->text;
	struct db *from = f->from->db;
	int64_t sighting, race;

	if (!r)
		return -1;
	store_columns(rows, 0, text, "itttiiicnttt", &sighting, &r->report, &r->site[0], &r->site[1], &r->seen, &r->first_ns,
		      &r->last_ns, &r->verdict.class, &r->verdict.rank, &r->verdict.rule, &r->verdict.evidence,
		      &r->verdict.suppressed);
	store_side_columns(rows, 12, text, r->key.sides);
	store_columns(rows, 20, text, "tti", &r->key.datum, &r->key.place, &race);
	store_key_seal(&r->key, text);
	if (text_failed(text, err))
		return -1;
	f->race = r;
	if (db_each(db_query(from, err, instances_sql, "i", sighting), fetch_instance, f, err) < 0 ||
	    store_row_bytes(db_query(from, err, record_sql, "iit", race, f->run, r->report), &r->record, &r->record_size, err) <
		    0)
		return -1;
	return db_each(db_query(from, err, places_sql, "i", race), fetch_place, f, err);
}

/* ---- coverage ---- */

static int fetch_cover(struct run_data *d, struct store *from, int64_t run, struct err *err)
{
	/* Name round_id in the query, although run_id would suffice: the index of the table begins with round_id. */
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
		rc = db_each(db_query(from->db, err, races_sql, "i", run), fetch_race, &(struct fetch){d, from, run, NULL},
			     err);
	if (rc == 0)
		rc = fetch_cover(d, from, run, err);
	if (rc == 0)
		rc = explored_fetch(d, from, run, err);
	db_rollback(from->db);
	return rc == 0 && text_failed(d->text, err) ? -1 : rc;
}

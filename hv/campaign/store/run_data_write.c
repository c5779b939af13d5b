// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a run's data to the database. The result does not depend on the order of runs: every sum counts each run once, and
 * every choice between two runs is by their times and uuids. So a merged store equals a store that took all runs itself.
 */
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/coverage_text.h"
#include "hv/campaign/store/explored.h"
#include "hv/campaign/store/internal.h"
#include "hv/campaign/store/run_data.h"

/*
 * ---- race aliases ----
 *
 * A report without names from debug files can have a race whose datum has no name. Then it is unknown which race with a named
 * datum this is. If only one such race is possible, the race without a name becomes an alias of it, and the store shows both as
 * one race. The column `line` of each race is the id of the race as which the store shows it. docs/campaigns.md gives the
 * reasons.
 */

/* A race with a named datum is never an alias of another race: set its `line` to its own id. */
static int named(struct db *db, const char *sides, struct err *err)
{
	return db_exec(db, err, "UPDATE race SET line = id WHERE sides = $1 AND datum <> '' AND line <> id", "t", sides);
}

/*
 * Make each race whose datum has a place (store_key.place) but no name an alias of the race with a named datum that was seen at
 * this place, if exactly one such race exists.
 */
static int placed(struct db *db, const char *sides, struct err *err)
{
	return db_exec(db, err,
		       "UPDATE race SET line = CASE WHEN (SELECT count(*) FROM race o JOIN race_place p ON p.race_id = o.id "
		       "WHERE o.sides = race.sides AND o.datum <> '' AND p.place = race.place) = 1 "
		       "THEN (SELECT min(o.id) FROM race o JOIN race_place p ON p.race_id = o.id "
		       "WHERE o.sides = race.sides AND o.datum <> '' AND p.place = race.place) ELSE race.id END "
		       "WHERE sides = $1 AND datum = '' AND place <> ''",
		       "t", sides);
}

/*
 * Make each race whose datum has neither name nor place an alias of the race with the same sides, if exactly one such race
 * exists.
 */
static int bare(struct db *db, const char *sides, struct err *err)
{
	return db_exec(db, err,
		       "UPDATE race SET line = CASE WHEN (SELECT count(*) FROM race o WHERE o.sides = race.sides AND "
		       "o.id <> race.id AND o.line = o.id) = 1 THEN (SELECT min(o.id) FROM race o WHERE o.sides = "
		       "race.sides AND o.id <> race.id AND o.line = o.id) ELSE race.id END WHERE sides = $1 AND datum "
		       "= '' AND place = ''",
		       "t", sides);
}

/*
 * Compute the aliases of all races with these two sides again. The result depends only on the set of races, not on the order in
 * which they were inserted.
 */
static int alias_update(struct db *db, const char *sides, struct err *err)
{
	return named(db, sides, err) < 0 || placed(db, sides, err) < 0 ? -1 : bare(db, sides, err);
}

/* The ids that a race of the run's data has in the database. */
struct written {
	int64_t race, build_race, verdict;
	bool fresh; /* The store did not have this race, or one of the places of its datum, before this run. */
};

/* ---- rows that several runs share ---- */

int kernel_id(struct db *db, const char *build_id, const char *banner, int64_t *id, struct err *err)
{
	int rc;

	*id = 0;
	if (!build_id[0] && !banner[0])
		return 0;
	rc = db_number(db, err, id, "SELECT id FROM kernel WHERE build_id = $1 AND banner = $2", "tt", build_id, banner);
	if (rc == 0)
		rc = db_number(db, err, id, "INSERT INTO kernel (build_id, banner) VALUES ($1, $2) RETURNING id", "tt",
			       build_id, banner);
	return rc < 0 ? -1 : 0;
}

static int verdict_id(struct db *db, const struct store_verdict *v, int64_t *id, struct err *err)
{
	int rc = db_number(
		db, err, id,
		"SELECT id FROM verdict WHERE rule = $1 AND evidence = $2 AND class = $3 AND rank = $4 AND suppressed = $5",
		"ttiit", v->rule, v->evidence, (int64_t)v->class, (int64_t)v->rank, v->suppressed);

	if (rc == 0)
		rc = db_number(db, err, id,
			       "INSERT INTO verdict (rule, evidence, class, rank, suppressed) VALUES ($1, $2, $3, $4, $5) "
			       "RETURNING id",
			       "ttiit", v->rule, v->evidence, (int64_t)v->class, (int64_t)v->rank, v->suppressed);
	return rc < 0 ? -1 : 0;
}

static int new_race(struct db *db, const struct store_key *key, int64_t *id, struct err *err)
{
	const struct store_side *a = &key->sides[0], *b = &key->sides[1];

	/* Insert the race without source files, which race_files() sets. */
	return db_number(
		db, err, id,
		"INSERT INTO race (name, identity, sides, function0, module0, kind0, file0, function1, module1, kind1, file1, "
		"datum, place, line) VALUES ($1, $2, $3, $4, $5, $6, '', $7, $8, $9, '', $10, $11, 0) RETURNING id",
		"ttttttttttt", key->name, key->identity, key->sides_text, a->function, a->module, a->kind, b->function,
		b->module, b->kind, key->datum, key->datum[0] ? "" : key->place);
}

/*
 * Set the source files of a race. Of several files, keep the first in byte order, so that the order of runs does not matter.
 * Few functions have two files.
 */
static int race_files(struct db *db, const struct store_key *key, int64_t id, struct err *err)
{
	if (!key->sides[0].file[0] && !key->sides[1].file[0])
		return 0;
	return db_send(db, err,
		       "UPDATE race SET file0 = CASE WHEN $1 = '' OR (file0 <> '' AND file0 < $1) THEN file0 ELSE $1 END, "
		       "file1 = CASE WHEN $2 = '' OR (file1 <> '' AND file1 < $2) THEN file1 ELSE $2 END WHERE id = $3",
		       "tti", key->sides[0].file, key->sides[1].file, id);
}

/* Find or insert the race. Sets *fresh if it is inserted. */
static int race_id_of(struct db *db, const struct store_key *key, int64_t *id, bool *fresh, struct err *err)
{
	int rc = db_number(db, err, id, "SELECT id FROM race WHERE identity = $1", "t", key->identity);

	if (rc == 0) {
		rc = new_race(db, key, id, err);
		*fresh = true;
	}
	return rc < 0 ? -1 : race_files(db, key, *id, err);
}

static int write_place(struct db *db, int64_t race, const char *place, bool *fresh, struct err *err)
{
	int64_t made = db_run(db, err,
			      "INSERT INTO race_place (race_id, place) VALUES ($1, $2) ON CONFLICT (race_id, place) DO NOTHING",
			      "it", race, place);

	*fresh |= made > 0;
	return made < 0 ? -1 : 0;
}

static int write_places(struct db *db, const struct run_data_race *r, int64_t race, bool *fresh, struct err *err)
{
	if (r->key.datum[0] && r->key.place[0] && write_place(db, race, r->key.place, fresh, err) < 0)
		return -1;
	for (size_t i = 0; i < r->place_count; i++) {
		if (write_place(db, race, r->places[i], fresh, err) < 0)
			return -1;
	}
	return 0;
}

static int build_race_id(struct db *db, const struct run_data_race *r, int64_t race, int64_t kernel, int64_t *id,
			 struct err *err)
{
	int rc = db_number(db, err, id, "SELECT id FROM build_race WHERE race_id = $1 AND kernel_id = $2 AND report = $3",
			   "iit", race, kernel, r->report);

	if (rc == 0)
		rc = db_number(db, err, id,
			       "INSERT INTO build_race (race_id, kernel_id, report, site0, site1) VALUES ($1, $2, $3, $4, $5) "
			       "RETURNING id",
			       "iittt", race, kernel, r->report, r->site[0], r->site[1]);
	return rc < 0 ? -1 : 0;
}

/* ---- records ---- */

static int keep_record(const struct db_rows *rows, void *ctx, struct err *err)
{
	int latest = db_int(rows, 0) != 0, *wanted = ctx;

	(void)err;
	if (db_int(rows, 1 + latest))
		*wanted &= ~(1 << latest);
	return 0;
}

/*
 * The store keeps two records of a race: from the first and from the last run that saw it. Returns which of the two the new
 * record, from `run` and with the id `report`, replaces: bit 0 for the first record, bit 1 for the last; or -1 with err set.
 */
static int record_wanted(struct db *db, int64_t race, const struct run_data_run *run, const char *report, struct err *err)
{
	/*
	 * The first record stays if it is not later than the new record, and the last record stays if it is not earlier. A
	 * record that equals the new one stays, too.
	 */
	struct db_rows *rows = db_query(
		db, err,
		"SELECT latest, CASE WHEN (started, run_uuid, report) <= ($2, $3, $4) THEN 1 ELSE 0 END, "
		"CASE WHEN (started, run_uuid, report) >= ($2, $3, $4) THEN 1 ELSE 0 END FROM record WHERE race_id = $1",
		"iitt", race, run->started, run->uuid, report);
	int wanted = 3;

	return db_each(rows, keep_record, &wanted, err) < 0 ? -1 : wanted;
}

int record_write(struct db *db, int64_t race, const struct run_data_run *run, const char *report, const void *data, size_t size,
		 struct err *err)
{
	int wanted = record_wanted(db, race, run, report, err);

	if (wanted < 0)
		return -1;
	for (int latest = 0; latest < 2; latest++) {
		if (wanted >> latest & 1 &&
		    db_send(db, err,
			    "INSERT INTO record (race_id, latest, started, run_uuid, report, data) VALUES ($1, $2, "
			    "$3, $4, $5, $6) ON CONFLICT (race_id, latest) DO UPDATE SET started = excluded.started, "
			    "run_uuid = excluded.run_uuid, report = excluded.report, data = excluded.data",
			    "iiittb", race, (int64_t)latest, run->started, run->uuid, report, data, size) < 0)
			return -1;
	}
	return 0;
}

/* ---- rows of the run ---- */

static int write_sighting(struct db *db, const struct run_data_race *r, const struct written *w, const struct run_data_run *run,
			  struct err *err)
{
	int64_t id = 0;

	if (db_number(db, err, &id,
		      "INSERT INTO sighting (build_race_id, run_id, round_id, verdict_id, seen, first_ns, last_ns) "
		      "VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id",
		      "iiiiiii", w->build_race, run->id, run->round, w->verdict, r->seen, r->first_ns, r->last_ns) < 0)
		return -1;
	for (size_t i = 0; i < r->instance_count; i++) {
		const struct run_data_instance *in = &r->instances[i];

		if (db_send(db, err,
			    "INSERT INTO instance (sighting_id, number, how, cpu0, cpu1, time_ns, held_ns) "
			    "VALUES ($1, $2, $3, $4, $5, $6, $7)",
			    "iiiiiii", id, (int64_t)i, in->how, in->cpu[0], in->cpu[1], in->time_ns, in->held_ns) < 0)
			return -1;
	}
	return 0;
}

static int write_race(struct db *db, const struct run_data_race *r, int64_t kernel, const struct run_data_run *run,
		      struct written *w, struct err *err)
{
	if (race_id_of(db, &r->key, &w->race, &w->fresh, err) < 0 || write_places(db, r, w->race, &w->fresh, err) < 0 ||
	    build_race_id(db, r, w->race, kernel, &w->build_race, err) < 0 ||
	    verdict_id(db, &r->verdict, &w->verdict, err) < 0 || write_sighting(db, r, w, run, err) < 0)
		return -1;
	return r->record ? record_write(db, w->race, run, r->report, r->record, r->record_size, err) : 0;
}

/* ---- sums of the round ---- */

static int read_verdict(struct db *db, int64_t id, struct store_text *text, struct store_verdict *out, struct err *err)
{
	struct db_rows *rows =
		db_query(db, err, "SELECT class, rank, rule, evidence, suppressed FROM verdict WHERE id = $1", "i", id);

	return store_row(rows, text, err, "cnttt", &out->class, &out->rank, &out->rule, &out->evidence, &out->suppressed);
}

static int add_to_round(struct db *db, const struct run_data *d, int64_t race, int64_t seen,
			const struct store_verdict *verdict, int64_t verdict_key, const struct run_data_run *run,
			struct err *err)
{
	struct store_verdict there;
	int64_t there_key = 0;
	int rc = db_number(db, err, &there_key, "SELECT verdict_id FROM race_round WHERE race_id = $1 AND round_id = $2", "ii",
			   race, run->round);

	if (rc < 0)
		return -1;
	if (rc > 0 && there_key != verdict_key) {
		rc = read_verdict(db, there_key, d->text, &there, err);
		if (rc < 0)
			return -1;
		if (rc > 0 && verdict_weighs_more(&there, verdict))
			verdict_key = there_key;
	}
	return db_send(db, err,
		       "INSERT INTO race_round (race_id, round_id, seen, runs, verdict_id) VALUES ($1, $2, $3, 1, $4) "
		       "ON CONFLICT (race_id, round_id) DO UPDATE SET seen = race_round.seen + excluded.seen, "
		       "runs = race_round.runs + 1, verdict_id = excluded.verdict_id",
		       "iiii", race, run->round, seen, verdict_key);
}

/*
 * Add the run's races to the counts that the store keeps for each race and round. The races are sorted by identity, so all
 * races of one identity are adjacent.
 */
static int write_sums(struct db *db, const struct run_data *d, const struct written *w, const struct run_data_run *run,
		      struct err *err)
{
	for (size_t i = 0, end; i < d->race_count; i = end) {
		size_t best = i;
		int64_t seen = 0;
		bool fresh = false;

		for (end = i; end < d->race_count && w[end].race == w[i].race; end++) {
			seen += d->races[end].seen;
			fresh |= w[end].fresh;
			if (verdict_weighs_more(&d->races[end].verdict, &d->races[best].verdict))
				best = end;
		}
		if (add_to_round(db, d, w[i].race, seen, &d->races[best].verdict, w[best].verdict, run, err) < 0 ||
		    (fresh && alias_update(db, d->races[i].key.sides_text, err) < 0))
			return -1;
	}
	return 0;
}

int run_data_write(struct db *db, const struct run_data *d, const struct run_data_run *run, struct err *err)
{
	struct written *w = calloc(d->race_count + 1, sizeof(*w));
	int64_t kernel;
	int rc = -1;

	if (!w)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	if (kernel_id(db, d->build_id, d->banner, &kernel, err) < 0)
		goto out;
	/* Give races of unknown kernels one common kernel, with the banner "unknown". */
	if (!kernel && d->race_count && kernel_id(db, "", "unknown", &kernel, err) < 0)
		goto out;
	if (db_send(db, err,
		    "UPDATE run SET kernel_id = $1, hits = $2, windows = $3, conflicts = $4, sampled_ns = $5, "
		    "lost_permille = $6, pool = $7 WHERE id = $8",
		    "iiiiiiii", kernel, d->hits, d->windows, d->conflicts, d->sampled_ns, d->lost_permille, d->pool,
		    run->id) < 0)
		goto out;
	for (size_t i = 0; i < d->race_count; i++) {
		if (write_race(db, &d->races[i], kernel, run, &w[i], err) < 0)
			goto out;
	}
	if (write_sums(db, d, w, run, err) < 0 || explored_write(db, d, run->id, err) < 0)
		goto out;
	rc = d->coverage.text ? coverage_text_write(db, &d->coverage, run, kernel, err) : 0;
out:
	free(w);
	return rc;
}

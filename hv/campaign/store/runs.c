// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores and lists the runs of rounds, and their findings. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/complaints.h"
#include "hv/campaign/store/explored.h"
#include "hv/campaign/store/internal.h"
#include "hv/campaign/store/run_data.h"

/* ---- begin ---- */

int store_run_write(struct db *db, const struct store_run *r, int64_t *id, struct err *err)
{
	char seed[24];

	snprintf(seed, sizeof(seed), "%" PRIu64, r->seed);
	if (db_run(db, err,
		   "INSERT INTO run (uuid, round_id, cell, kernel, image, workload, sampling, seed, engine, command, folder, "
		   "shard, state, outcome, detail, started, ended, kernel_id, hits, windows, conflicts, sampled_ns, "
		   "lost_permille, pool) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, "
		   "0, 0, 0, 0, 0, -1, 0) ON CONFLICT (uuid) DO UPDATE SET state = excluded.state, outcome = "
		   "excluded.outcome, detail = excluded.detail, command = excluded.command, folder = excluded.folder, shard "
		   "= excluded.shard, started = excluded.started, ended = excluded.ended",
		   "tittttttttttiitii", r->uuid, r->round, r->key, r->kernel, r->image, r->workload, r->sampling, seed,
		   r->engine, r->command, r->folder, r->shard, (int64_t)r->state, (int64_t)r->outcome, r->detail, r->started,
		   r->ended) < 0)
		return -1;
	return db_number(db, err, id, "SELECT id FROM run WHERE uuid = $1", "t", r->uuid) < 0 ? -1 : 0;
}

static int uuid_of(struct store *s, int64_t round, const char *key, char out[STORE_UUID_MAX], struct err *err)
{
	struct db_rows *rows = db_query(s->db, err, "SELECT uuid FROM round WHERE id = $1", "i", round);
	int rc = db_next(rows, err);

	if (rc > 0)
		store_uuid(db_text(rows, 0), key, out);
	else if (rc == 0)
		rc = err_set(err, EXIT_INPUT, "%s: the store has lost the round that the run %s belongs to", store_where(s),
			     key);
	db_rows_end(rows);
	return rc;
}

/*
 * Write the row of a run that is about to start, unless the run has ended already. Returns 1 if it has ended, 0 if not, or -1
 * with err set.
 */
static int begin(struct store *s, struct store_run *run, int64_t *id, struct err *err)
{
	int64_t state = STORE_RUNNING;

	if (uuid_of(s, run->round, run->key, run->uuid, err) < 0 ||
	    store_row(db_query(s->db, err, "SELECT state, id FROM run WHERE uuid = $1", "t", run->uuid), NULL, err, "ii",
		      &state, id) < 0)
		return -1;
	return state == STORE_DONE ? 1 : store_run_write(s->db, run, id, err);
}

int store_run_begin(struct store *s, int64_t round, const struct store_run_plan *plan, int64_t *id, struct err *err)
{
	struct store_run run = {.round = round,
				.key = plan->key,
				.kernel = plan->kernel,
				.image = plan->image,
				.workload = plan->workload,
				.sampling = plan->sampling,
				.seed = plan->seed,
				.engine = plan->engine,
				.command = plan->command,
				.folder = plan->folder,
				.shard = plan->shard,
				.started = realtime_ms()};
	int rc;

	if (db_begin(s->db, true, err) < 0)
		return -1;
	rc = begin(s, &run, id, err);
	return db_end(s->db, rc < 0 ? -1 : 0, err) < 0 ? -1 : rc;
}

/* ---- end ---- */

int store_finding_write(struct db *db, int64_t run, int64_t number, const struct store_finding *f, struct err *err)
{
	return db_exec(db, err, "INSERT INTO finding (run_id, number, kind, line, file) VALUES ($1, $2, $3, $4, $5)", "iittt",
		       run, number, f->kind, f->line, f->file);
}

/*
 * Write the run's findings, then the complaints of its report. Leave out a finding that repeats one of these complaints.
 * Returns the number of findings that were written, or -1.
 */
static int write_findings(struct store *s, int64_t run, const struct store_run_result *r, const struct run_data *d,
			  struct err *err)
{
	int number = 0;

	for (size_t i = 0; i < r->finding_count; i++) {
		if (!complaints_say(d, &r->findings[i]) && store_finding_write(s->db, run, number++, &r->findings[i], err) < 0)
			return -1;
	}
	for (size_t i = 0; i < d->complaint_count; i++) {
		const struct run_data_complaint *c = &d->complaints[i];
		const struct store_finding finding = {store_outcome_word(c->kind), c->line,
						      c->file && c->file[0] ? c->file : r->races};

		if (store_finding_write(s->db, run, number++, &finding, err) < 0)
			return -1;
	}
	return number;
}

/* Returns what is wrong with the report of a run that must leave one, or STORE_OK. */
static enum store_outcome fault_of(const struct store_run_result *r, const struct run_data *d)
{
	if (!r->must_report)
		return STORE_OK;
	if (!r->races)
		return STORE_NO_REPORT;
	if (!d->finished)
		return STORE_TRUNCATED;
	if (r->explored)
		return STORE_OK;
	/* run_doubt() has the same condition: without a window, no race can be seen. */
	return d->hits && d->windows ? STORE_OK : STORE_UNSAMPLED;
}

static const char *fault_text(enum store_outcome fault, const struct run_data *d)
{
	switch (fault) {
	case STORE_NO_REPORT:
		return "the run left no report";
	case STORE_TRUNCATED:
		return "the report ends before the run did: what the run found later is not in it";
	default:
		return d->hits ? "the run sampled nothing: no window was opened at any hit"
			       : "the run sampled nothing: no armed site was executed";
	}
}

/*
 * Add a finding that says why the run's report cannot be used (`fault`). A run that could not start needs none: it has a
 * finding with the reason already.
 */
static int write_fault(struct store *s, int64_t run, const struct store_run_result *r, const struct run_data *d,
		       enum store_outcome fault, int number, struct err *err)
{
	const struct store_finding finding = {store_outcome_word(fault), fault_text(fault, d), r->races ? r->races : ""};

	if (fault == STORE_OK || r->outcome == STORE_FAILED)
		return 0;
	return store_finding_write(s->db, run, number, &finding, err);
}

/*
 * Returns the most serious of three outcomes: the run's own, its worst complaint, and the fault of its report. Sets *detail to
 * the line that explains the returned outcome.
 */
static enum store_outcome outcome_of_end(const struct store_run_result *r, const struct run_data *d, enum store_outcome fault,
					 const char **detail)
{
	const struct run_data_complaint *worst = complaints_worst(d);

	if (worst && ends_is_worse(worst->kind, r->outcome)) {
		*detail = worst->line;
		return worst->kind;
	}
	*detail = r->outcome == STORE_OK && fault != STORE_OK ? fault_text(fault, d) : r->detail;
	return r->outcome == STORE_OK ? fault : r->outcome;
}

/* Read the row of the run with this id into `run` and `uuid`. Returns 1; 0 if the run has ended already; or -1 with err set. */
static int take_run(struct store *s, int64_t id, struct run_data_run *run, char uuid[STORE_UUID_MAX], struct err *err)
{
	struct db_rows *rows = db_query(s->db, err, "SELECT state, round_id, uuid, started FROM run WHERE id = $1", "i", id);
	int rc = db_next(rows, err);

	if (rc == 0)
		rc = err_set(err, EXIT_INPUT, "%s: the store has lost the run that has ended", store_where(s));
	if (rc > 0) {
		snprintf(uuid, STORE_UUID_MAX, "%s", db_text(rows, 2));
		*run = (struct run_data_run){.id = id, .round = db_int(rows, 1), .uuid = uuid, .started = db_int(rows, 3)};
		rc = db_int(rows, 0) != STORE_DONE;
	}
	db_rows_end(rows);
	return rc;
}

static int end(struct store *s, int64_t id, const struct store_run_result *r, const struct run_data *d, struct err *err)
{
	enum store_outcome fault = fault_of(r, d), outcome;
	char uuid[STORE_UUID_MAX];
	struct run_data_run run;
	const char *detail;
	int rc = take_run(s, id, &run, uuid, err), number;

	if (rc <= 0)
		return rc < 0 ? -1 : 1;
	if (r->started)
		run.started = r->started;
	outcome = outcome_of_end(r, d, fault, &detail);
	if (db_exec(s->db, err, "UPDATE run SET state = 1, outcome = $1, detail = $2, started = $3, ended = $4 WHERE id = $5",
		    "itiii", (int64_t)outcome, detail, run.started, r->ended ? r->ended : realtime_ms(), id) < 0)
		return -1;
	number = write_findings(s, id, r, d, err);
	if (number < 0 || write_fault(s, id, r, d, fault, number, err) < 0 || run_data_write(s->db, d, &run, err) < 0)
		return -1;
	return 0;
}

/* Read the run's report and coverage file into `d`. If one of the two is invalid, sets *bad to this file. */
static int read_files(const struct store_run_result *r, struct run_data *d, enum store_bad *bad, struct err *err)
{
	struct err why = {0};

	*bad = STORE_BAD_NONE;
	if (r->races && (r->explored ? explored_read : run_data_read_races)(d, r->races, &why) < 0)
		*bad = STORE_BAD_RACES;
	else if (r->coverage && run_data_read_coverage(d, r->coverage, &why) < 0)
		*bad = STORE_BAD_COVERAGE;
	if (*bad == STORE_BAD_NONE)
		return 0;
	/* Blame no file for a failure such as a lack of memory: then *bad is STORE_BAD_NONE. */
	if (why.code != EXIT_INPUT)
		*bad = STORE_BAD_NONE;
	return err_set(err, why.code, "%s", why.text);
}

int store_run_end(struct store *s, int64_t run, const struct store_run_result *result, enum store_bad *bad, struct err *err)
{
	enum store_bad own;
	struct run_data d;
	int rc = run_data_init(&d, err);

	if (!bad)
		bad = &own;
	*bad = STORE_BAD_NONE;
	if (rc == 0)
		rc = read_files(result, &d, bad, err);
	if (rc == 0)
		rc = db_begin(s->db, true, err);
	if (rc == 0)
		rc = db_end(s->db, end(s, run, result, &d, err), err);
	run_data_free(&d);
	return rc;
}

/* ---- queries ---- */

bool store_is_attempt(const char *key)
{
	return strchr(key, '~') != NULL;
}

static enum store_outcome outcome_of(int64_t value)
{
	return value >= 0 && value < STORE_OUTCOMES ? (enum store_outcome)value : STORE_FAILED;
}

static int read_run(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct store_runs *out = ctx;
	struct store_run *r = list_grow(&out->list, &out->count, sizeof(*r), err);

	if (!r)
		return -1;
	store_columns(rows, 0, NULL, "ii", &r->id, &r->round);
	snprintf(r->uuid, sizeof(r->uuid), "%s", text_copy(out->text, db_text(rows, 2)));
	r->seed = strtoull(db_text(rows, 3), NULL, 10);
	r->state = db_int(rows, 4) == STORE_DONE ? STORE_DONE : STORE_RUNNING;
	r->outcome = outcome_of(db_int(rows, 5));
	store_columns(rows, 6, out->text, "iiiiiiniitttttttttttt", &r->started, &r->ended, &r->hits, &r->windows, &r->conflicts,
		      &r->sampled_ns, &r->lost_permille, &r->races, &r->new_races, &r->key, &r->kernel, &r->image, &r->workload,
		      &r->sampling, &r->engine, &r->command, &r->folder, &r->shard, &r->detail, &r->build_id, &r->banner);
	return 0;
}

/* Selects the runs of a round with their counts. A race is new in a run if no earlier round has the race. */
static const char runs_sql[] =
	"SELECT u.id, u.round_id, u.uuid, u.seed, u.state, u.outcome, u.started, u.ended, u.hits, u.windows, u.conflicts, "
	"u.sampled_ns, "
	"u.lost_permille, (SELECT count(DISTINCT r.line) FROM sighting s JOIN build_race b ON b.id = s.build_race_id "
	"JOIN race r ON r.id = b.race_id WHERE s.run_id = u.id), "
	"(SELECT count(DISTINCT r.line) FROM sighting s JOIN build_race b ON b.id = s.build_race_id JOIN race r ON r.id = "
	"b.race_id "
	"WHERE s.run_id = u.id AND NOT EXISTS (SELECT 1 FROM race o JOIN race_round e ON e.race_id = o.id JOIN round q "
	"ON q.id = e.round_id WHERE o.line = r.line AND (q.started, q.uuid) < (w.started, w.uuid))), "
	"u.cell, u.kernel, u.image, u.workload, u.sampling, u.engine, u.command, u.folder, u.shard, u.detail, "
	"coalesce(k.build_id, ''), coalesce(k.banner, '') FROM run u JOIN round w ON w.id = u.round_id "
	"LEFT JOIN kernel k ON k.id = u.kernel_id WHERE u.round_id = $1 ORDER BY u.cell, u.uuid";

int store_runs(struct store *s, int64_t round, struct store_runs *out, struct err *err)
{
	int rc;

	*out = (struct store_runs){0};
	rc = store_read_begin(s, &out->text, err);
	if (rc == 0)
		rc = db_each(db_query(s->db, err, runs_sql, "i", round), read_run, out, err);
	rc = store_read_end(s, rc, out->text, err);
	if (rc < 0)
		store_runs_free(out);
	return rc;
}

/* ---- findings ---- */

static int read_finding(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct store_findings *out = ctx;
	struct store_finding_entry *f = list_grow(&out->list, &out->count, sizeof(*f), err);

	if (!f)
		return -1;
	store_columns(rows, 0, out->text, "tttttt", &f->key, &f->kind, &f->line, &f->file, &f->command, &f->folder);
	f->seed = strtoull(db_text(rows, 6), NULL, 10);
	f->run = db_int(rows, 7);
	f->is_new = !db_int(rows, 8);
	return 0;
}

static const char findings_sql[] =
	"SELECT u.cell, f.kind, f.line, f.file, u.command, u.folder, u.seed, u.id, (SELECT count(*) FROM finding g JOIN run h "
	"ON h.id = g.run_id JOIN round o ON o.id = h.round_id WHERE g.kind = f.kind AND g.line = f.line AND o.campaign = "
	"w.campaign AND "
	"(o.started, o.uuid) < (w.started, w.uuid)) FROM finding f JOIN run u ON u.id = f.run_id JOIN round w ON w.id = "
	"u.round_id "
	"WHERE u.round_id = $1 ORDER BY u.cell, u.uuid, f.number";

int store_findings(struct store *s, int64_t round, struct store_findings *out, struct err *err)
{
	int rc;

	*out = (struct store_findings){0};
	rc = store_read_begin(s, &out->text, err);
	if (rc == 0)
		rc = db_each(db_query(s->db, err, findings_sql, "i", round), read_finding, out, err);
	rc = store_read_end(s, rc, out->text, err);
	if (rc < 0)
		store_findings_free(out);
	return rc;
}

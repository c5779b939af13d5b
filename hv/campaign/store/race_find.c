// SPDX-License-Identifier: GPL-2.0-or-later
/* Queries the store about one race: its id from a prefix, its record, and its builds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/compress.h"
#include "hv/campaign/store/internal.h"
#include "hv/campaign/store/selection.h"

#define SHOWN_MAX 4 /* A message about an ambiguous beginning of an id lists at most this many ids. */

/* ---- by id ---- */

struct candidates {
	int64_t race;
	size_t count;
	char names[SHOWN_MAX * STORE_RACE_ID_MAX + 1];
};

static int add_candidate(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct candidates *c = ctx;
	size_t used = strlen(c->names);

	(void)err;
	c->race = db_int(rows, 0);
	if (c->count++ < SHOWN_MAX)
		snprintf(c->names + used, sizeof(c->names) - used, " %.12s", db_text(rows, 1));
	return 0;
}

/* Find the races whose id begins with `name` or, if there is none, those whose id in a report begins with `name`. */
static int find(struct store *s, const char *name, struct candidates *c, struct err *err)
{
	static const char *const queries[] = {
		"SELECT DISTINCT l.id, l.name FROM race r JOIN race l ON l.id = r.line WHERE substr(r.name, 1, length($1)) = "
		"$1 "
		"ORDER BY l.name",
		"SELECT DISTINCT l.id, l.name FROM build_race b JOIN race r ON r.id = b.race_id JOIN race l ON l.id = r.line "
		"WHERE substr(b.report, 1, length($1)) = $1 ORDER BY l.name",
	};
	int rc = db_begin(s->db, false, err);

	*c = (struct candidates){0};
	for (size_t i = 0; i < 2 && rc == 0 && !c->count; i++)
		rc = db_each(db_query(s->db, err, queries[i], "t", name), add_candidate, c, err);
	db_rollback(s->db);
	return rc;
}

int store_race_count(struct store *s, const char *name, size_t *count, struct err *err)
{
	struct candidates c;
	int rc = find(s, name, &c, err);

	*count = c.count;
	return rc;
}

int store_race_find(struct store *s, const char *name, int64_t *race, struct err *err)
{
	struct candidates c;

	if (strncmp(name, STORE_RACE_WORD, strlen(STORE_RACE_WORD)) == 0)
		name += strlen(STORE_RACE_WORD);
	if (!name[0] || name[strspn(name, "0123456789abcdef")])
		return err_set(err, EXIT_USAGE, "%.40s: the id of a race is made of the digits 0 to 9 and a to f", name);
	if (find(s, name, &c, err) < 0)
		return -1;
	if (!c.count)
		return err_set(err, EXIT_USAGE, "%.40s: the store has no race with an id that begins with this", name);
	if (c.count > 1)
		return err_set(err, EXIT_USAGE, "%.40s: %zu races have an id that begins with this:%s%s", name, c.count,
			       c.names, c.count > SHOWN_MAX ? " ..." : "");
	*race = c.race;
	return 0;
}

/* ---- record ---- */

static char *record(struct store *s, int64_t race, bool latest, struct err *err)
{
	static const char first_sql[] = "SELECT c.data FROM race r JOIN record c ON c.race_id = r.id WHERE c.latest = 0 AND "
					"r.line = (SELECT w.line FROM race w "
					"WHERE w.id = $1) ORDER BY c.started, c.run_uuid, c.report LIMIT 1";
	static const char last_sql[] = "SELECT c.data FROM race r JOIN record c ON c.race_id = r.id WHERE c.latest = 1 AND "
				       "r.line = (SELECT w.line FROM race w "
				       "WHERE w.id = $1) ORDER BY c.started DESC, c.run_uuid DESC, c.report DESC LIMIT 1";
	struct db_rows *rows = db_query(s->db, err, latest ? last_sql : first_sql, "i", race);
	char *text = NULL;

	if (rows && db_next(rows, err) > 0) {
		size_t size;
		const void *data = db_bytes(rows, 0, &size);

		text = record_decompress(data, size, store_where(s), err);
	}
	db_rows_end(rows);
	return text;
}

char *store_race_record(struct store *s, int64_t race, bool latest, struct err *err)
{
	char *text;

	if (db_begin(s->db, false, err) < 0)
		return NULL;
	text = record(s, race, latest, err);
	db_rollback(s->db);
	return text;
}

/* ---- builds ---- */

static struct store_build *new_build(const struct db_rows *rows, struct store_builds *out, struct err *err)
{
	struct store_build *b = list_grow(&out->list, &out->count, sizeof(*b), err);

	if (b)
		store_columns(rows, 1, out->text, "ttttt", &b->build_id, &b->banner, &b->report, &b->site[0], &b->site[1]);
	return b;
}

/* Read the builds of a race. The rows are ordered so that those of one build are adjacent. */
static int read_builds(struct store *s, const struct selection *selection, int64_t race, struct store_builds *out,
		       struct err *err)
{
	struct db_rows *rows =
		db_query(s->db, err,
			 "SELECT b.id, k.build_id, k.banner, b.report, b.site0, b.site1, g.round_id, sum(g.seen), count(*) "
			 "FROM race r JOIN build_race b ON b.race_id = r.id JOIN kernel k ON k.id = b.kernel_id JOIN sighting "
			 "g ON g.build_race_id = b.id WHERE r.line = (SELECT w.line FROM race w WHERE w.id = $1) GROUP BY "
			 "b.id, k.build_id, k.banner, b.report, b.site0, b.site1, g.round_id ORDER BY k.build_id, k.banner, "
			 "b.report, b.id, g.round_id",
			 "i", race);
	struct store_build *b = NULL;
	int64_t last = 0;
	int rc = db_next(rows, err);

	for (; rc > 0; rc = db_next(rows, err)) {
		const struct selection_round *round = selection_round(selection, db_int(rows, 6));

		if (!b || db_int(rows, 0) != last)
			b = new_build(rows, out, err);
		if (!b) {
			rc = -1;
			break;
		}
		last = db_int(rows, 0);
		b->seen += (uint64_t)db_int(rows, 7);
		b->runs += (uint64_t)db_int(rows, 8);
		if (!round)
			continue;
		if (!b->first || round->started < b->first)
			b->first = round->started;
		if (round->started > b->last)
			b->last = round->started;
		b->now |= round->now;
	}
	db_rows_end(rows);
	return rc;
}

static int by_first(const void *left, const void *right)
{
	const struct store_build *a = left, *b = right;
	int order = a->first < b->first ? -1 : a->first > b->first;

	if (!order)
		order = strcmp(a->build_id, b->build_id);
	if (!order)
		order = strcmp(a->banner, b->banner);
	return order ? order : strcmp(a->report, b->report);
}

int store_builds(struct store *s, const struct store_races_query *q, struct store_builds *out, struct err *err)
{
	struct selection selection = {0};
	int rc;

	*out = (struct store_builds){0};
	rc = store_read_begin(s, &out->text, err);
	if (rc == 0)
		rc = selection_init(&selection, s, q, out->text, err);
	if (rc == 0)
		rc = read_builds(s, &selection, q->race, out, err);
	selection_free(&selection);
	rc = store_read_end(s, rc, out->text, err);
	if (rc == 0 && out->count)
		qsort(out->list, out->count, sizeof(*out->list), by_first);
	if (rc < 0)
		store_builds_free(out);
	return rc;
}

/* ---- the last run ---- */

void store_last_run_free(struct store_last_run *r)
{
	text_free(r->text);
	*r = (struct store_last_run){0};
}

static int read_last_run(struct store *s, const struct selection *selection, int64_t race, struct store_last_run *out,
			 struct err *err)
{
	struct db_rows *rows = db_query(
		s->db, err,
		"SELECT u.round_id, u.cell, u.folder, u.command, b.report, k.banner FROM race r JOIN build_race b ON "
		"b.race_id = r.id JOIN sighting g ON g.build_race_id = b.id JOIN run u ON u.id = g.run_id JOIN kernel k "
		"ON k.id = b.kernel_id WHERE r.line = (SELECT w.line FROM race w WHERE w.id = $1) "
		"ORDER BY u.started DESC, u.uuid DESC, b.report",
		"i", race);
	int rc = db_next(rows, err), found = 0;

	for (; rc > 0 && !found; rc = db_next(rows, err)) {
		const struct selection_round *round = selection_round(selection, db_int(rows, 0));

		if (!round || !round->now)
			continue;
		store_columns(rows, 1, out->text, "ttttt", &out->key, &out->folder, &out->command, &out->report, &out->banner);
		found = 1;
	}
	db_rows_end(rows);
	return rc < 0 ? -1 : found;
}

int store_last_run(struct store *s, const struct store_races_query *q, struct store_last_run *out, struct err *err)
{
	struct selection selection = {0};
	int rc, found = 0;

	*out = (struct store_last_run){0};
	rc = store_read_begin(s, &out->text, err);
	if (rc == 0)
		rc = selection_init(&selection, s, q, out->text, err);
	if (rc == 0)
		rc = found = read_last_run(s, &selection, q->race, out, err);
	selection_free(&selection);
	rc = store_read_end(s, rc < 0 ? -1 : 0, out->text, err);
	if (rc < 0 || !found)
		store_last_run_free(out);
	return rc < 0 ? -1 : found;
}

/* ---- rounds ---- */

/*
 * Add the counts of the row `more` to the row before it, `r`, which is of the same round, and keep the more serious verdict. A
 * round can have a race and its alias (docs/glossary.md), which the store shows as one race; their rows are adjacent.
 */
static void add_row(struct store_race_round *r, const struct store_race_round *more)
{
	r->seen += more->seen;
	r->runs += more->runs;
	if (more->class > r->class || (more->class == r->class && more->rank <= r->rank))
		return;
	r->class = more->class;
	r->rank = more->rank;
	r->rule = more->rule;
}

static int read_row(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct store_race_rounds *out = ctx;
	struct store_race_round row, *last;

	store_columns(rows, 0, out->text, "iitiiicnt", &row.round, &row.started, &row.campaign, &row.number, &row.seen,
		      &row.runs, &row.class, &row.rank, &row.rule);
	if (out->count && out->list[out->count - 1].round == row.round) {
		add_row(&out->list[out->count - 1], &row);
		return 0;
	}
	last = list_grow(&out->list, &out->count, sizeof(*out->list), err);
	if (!last)
		return -1;
	*last = row;
	return 0;
}

static const char rounds_sql[] =
	"SELECT o.id, o.started, o.campaign, o.number, x.seen, x.runs, v.class, v.rank, v.rule FROM race r "
	"JOIN race_round x ON x.race_id = r.id JOIN round o ON o.id = x.round_id "
	"JOIN verdict v ON v.id = x.verdict_id WHERE r.line = $1 ORDER BY o.started, o.uuid";

int store_race_rounds(struct store *s, int64_t race, struct store_race_rounds *out, struct err *err)
{
	int rc;

	*out = (struct store_race_rounds){0};
	rc = store_read_begin(s, &out->text, err);
	if (rc == 0)
		rc = db_each(db_query(s->db, err, rounds_sql, "i", race), read_row, out, err);
	rc = store_read_end(s, rc, out->text, err);
	if (rc < 0)
		store_race_rounds_free(out);
	return rc;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes and lists what runs of `outrider explore` tried. */
#include "hv/campaign/store/explored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/campaign/store/compress.h"
#include "hv/campaign/store/internal.h"

/*
 * If the first program of a trial does not come to its access, the trial is run again, until it has run this many times. The
 * program did come to the access when its accesses were recorded, so the trial's time may have been too short for a slow host.
 */
#define MISSES 2

#define BUILD_ID_MAX 129 /* bytes of a build id in hexadecimal, with the NUL */

/* ---- one run ---- */

int explored_write(struct db *db, const struct run_data *d, int64_t run, struct err *err)
{
	const struct run_data_explored *e = &d->explored;

	if (!e->data)
		return 0;
	return db_send(
		db, err,
		"INSERT INTO explored (run_id, prepare, program0, program1, candidates, own, trials, untried, data) VALUES "
		"($1, $2, $3, $4, $5, $6, $7, $8, $9)",
		"itttiiiib", run, e->prepare, e->program[0], e->program[1], e->candidates, e->own, e->trials, e->untried,
		e->data, e->size);
}

int explored_fetch(struct run_data *d, struct store *from, int64_t run, struct err *err)
{
	struct run_data_explored *e = &d->explored;
	struct db_rows *rows =
		db_query(from->db, err,
			 "SELECT prepare, program0, program1, candidates, own, trials, untried FROM explored WHERE run_id = $1",
			 "i", run);

	if (store_row(rows, d->text, err, "tttiiii", &e->prepare, &e->program[0], &e->program[1], &e->candidates, &e->own,
		      &e->trials, &e->untried) < 0)
		return -1;
	rows = db_query(from->db, err, "SELECT data FROM explored WHERE run_id = $1", "i", run);
	return store_row_bytes(rows, &e->data, &e->size, err) < 0 ? -1 : 0;
}

/* ---- pairs of programs ---- */

static int read_pair(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct store_explored *out = ctx;
	struct store_explored_pair *p = list_grow(&out->list, &out->count, sizeof(*p), err);

	if (p)
		store_columns(rows, 0, out->text, "tttiii", &p->pair.prepare, &p->pair.program[0], &p->pair.program[1],
			      &p->trials, &p->own, &p->untried);
	return p ? 0 : -1;
}

/* Selects the pairs that runs of a plan's kernel explored in the build that the last of these runs had. */
static const char pairs_sql[] =
	"SELECT e.prepare, e.program0, e.program1, sum(e.trials), max(e.own), min(e.untried) FROM explored e "
	"JOIN run u ON u.id = e.run_id JOIN round w ON w.id = u.round_id WHERE w.campaign = $1 AND u.kernel = $2 AND "
	"u.kernel_id = "
	"(SELECT v.kernel_id FROM run v JOIN round x ON x.id = v.round_id WHERE x.campaign = $1 AND v.kernel = $2 AND "
	"v.kernel_id <> 0 ORDER BY v.started DESC, v.uuid DESC LIMIT 1) GROUP BY e.prepare, e.program0, e.program1 "
	"ORDER BY e.prepare, e.program0, e.program1";

int store_explored(struct store *s, const char *campaign, const char *kernel, struct store_explored *out, struct err *err)
{
	int rc;

	*out = (struct store_explored){0};
	rc = store_read_begin(s, &out->text, err);
	if (rc == 0)
		rc = db_each(db_query(s->db, err, pairs_sql, "tt", campaign, kernel), read_pair, out, err);
	rc = store_read_end(s, rc, out->text, err);
	if (rc < 0)
		store_explored_free(out);
	return rc;
}

/* ---- the trials of one pair ---- */

/* One trial of one run. `line` is "BUILD SITE SITE SCHEDULE", from malloc(). */
struct tried {
	char *line;
	bool harmful; /* The trial found something. */
	bool missed;  /* The first program did not come to its access. */
	bool latest;  /* The trial's build is that of the last run. */
};

struct tried_list {
	struct tried *list;
	size_t count;
	const char *where;	 /* the store, for messages */
	char last[BUILD_ID_MAX]; /* build of the last run, which is read first; "": not read yet */
};

static int add_trial(struct tried_list *t, const char *build, char *line, bool latest, struct err *err)
{
	char *word[EXPLORED_WORDS] = {0}, *made = NULL;
	struct tried *one;

	for (size_t i = 0; i < EXPLORED_WORDS && line; i++)
		word[i] = strsep(&line, " ");
	if (!word[EXPLORED_WORDS - 1] || strcmp(word[4], "failed") == 0)
		return 0;
	one = list_grow(&t->list, &t->count, sizeof(*one), err);
	if (!one)
		return -1;
	if (asprintf(&made, "%s %s %s %s", build, word[0], word[1], word[2]) < 0) {
		t->count--;
		return err_set(err, EXIT_INTERNAL, "out of memory");
	}
	*one = (struct tried){.line = made,
			      .harmful = strcmp(word[4], "same") != 0,
			      .missed = strcmp(word[3], "not-reached") == 0,
			      .latest = latest};
	return 0;
}

/* Add the trials of a run. */
static int add_trials(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct tried_list *t = ctx;
	size_t size;
	const void *data = db_bytes(rows, 1, &size);
	char *text = record_decompress(data, size, t->where, err), *rest = text, *line;
	const char *build = db_text(rows, 0);
	int rc = text ? 0 : -1;

	if (!t->last[0])
		snprintf(t->last, sizeof(t->last), "%s", build);
	while (rc == 0 && rest && (line = strsep(&rest, "\n")) != NULL) {
		if (line[0])
			rc = add_trial(t, build, line, strcmp(build, t->last) == 0, err);
	}
	free(text);
	return rc;
}

static int by_line(const void *a, const void *b)
{
	return strcmp(((const struct tried *)a)->line, ((const struct tried *)b)->line);
}

/*
 * Write each trial once, except trials that found something in at least one run. Add to *again the number of these exceptions
 * in the build of the last run. A trial whose first program came to its access in no run is written only after MISSES runs.
 */
static void put_trials(const struct tried_list *t, FILE *out, unsigned *again)
{
	for (size_t i = 0, end; i < t->count; i = end) {
		bool harmful = false, latest = false, missed = true;

		for (end = i; end < t->count && by_line(&t->list[i], &t->list[end]) == 0; end++) {
			harmful |= t->list[end].harmful;
			latest |= t->list[end].latest;
			missed &= t->list[end].missed;
		}
		if (!harmful && (!missed || end - i >= MISSES))
			fprintf(out, "%s\n", t->list[i].line);
		*again += harmful && latest;
	}
}

static const char trials_sql[] =
	"SELECT k.build_id, e.data FROM explored e JOIN run u ON u.id = e.run_id JOIN kernel k ON k.id = u.kernel_id "
	"WHERE e.prepare = $1 AND e.program0 = $2 AND e.program1 = $3 AND k.build_id <> '' ORDER BY u.started DESC, u.uuid "
	"DESC";

int store_tried(struct store *s, const struct store_programs *pair, FILE *out, unsigned *again, struct err *err)
{
	struct tried_list t = {.where = store_where(s)};
	int rc = db_begin(s->db, false, err);

	*again = 0;
	if (rc == 0) {
		rc = db_each(db_query(s->db, err, trials_sql, "ttt", pair->prepare, pair->program[0], pair->program[1]),
			     add_trials, &t, err);
		db_rollback(s->db);
	}
	if (t.count)
		qsort(t.list, t.count, sizeof(*t.list), by_line);
	if (rc == 0)
		put_trials(&t, out, again);
	for (size_t i = 0; i < t.count; i++)
		free(t.list[i].line);
	free(t.list);
	return rc;
}

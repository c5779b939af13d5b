// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists the races of selected rounds, compared with the rounds before. */
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/run_data.h"
#include "hv/campaign/store/selection.h"
#include "hv/campaign/store/version.h"

/* State of one race while the rows of its rounds are read. `race` is the entry that is appended to the list at the end. */
struct folded {
	struct store_race race;
	/* The most serious verdict of the selected rounds, and that of the latest round before them. */
	struct store_verdict now, last;
	bool seen_now, seen_base, has_first, has_last;
	size_t last_place; /* place, from 1 in the order of starts, of the last earlier round that saw the race */
	size_t edge[2];
	size_t last_counted; /* place of the last round that is counted in race.rounds */
};

struct listing {
	struct store *s;
	struct selection selection;
	struct store_races *out;
	/*
	 * The verdict that was read last, and its id in the database. Consecutive rounds of a race mostly have the same
	 * verdict, whose strings are then not copied again.
	 */
	int64_t verdict_id;
	struct store_verdict verdict;
};

/* ---- one round of one race ---- */

static const struct store_verdict *verdict_of(struct listing *l, const struct db_rows *rows)
{
	struct store_verdict *v = &l->verdict;

	if (l->verdict.rule && l->verdict_id == db_int(rows, 9))
		return v;
	store_columns(rows, 4, l->out->text, "cnttti", &v->class, &v->rank, &v->rule, &v->evidence, &v->suppressed,
		      &l->verdict_id);
	return v;
}

/*
 * Add a round before the selected rounds to the state of a race. The caller adds the rounds in the order of their starts. A
 * round can come twice, once for the race and once for its alias; then the more serious verdict counts.
 */
static void fold_before(struct folded *f, const struct selection_round *r, const struct store_verdict *v)
{
	if (!f->has_last || r->place > f->last_place || verdict_weighs_more(v, &f->last))
		f->last = *v;
	f->has_last = true;
	f->last_place = r->place;
}

static void fold_now(struct folded *f, int64_t seen, int64_t runs, const struct store_verdict *v)
{
	if (!f->seen_now || verdict_weighs_more(v, &f->now))
		f->now = *v;
	f->seen_now = true;
	f->race.seen += (uint64_t)seen;
	f->race.runs += (uint64_t)runs;
}

static void fold(struct folded *f, const struct selection_round *r, int64_t seen, int64_t runs, const struct store_verdict *v)
{
	struct store_race *race = &f->race;

	if (r->later)
		return;
	if (!f->has_first) {
		f->has_first = true;
		race->first = r->started;
		race->first_round = (uint64_t)r->number;
		race->first_campaign = r->campaign;
	}
	race->last = r->started;
	race->last_round = (uint64_t)r->number;
	race->total_seen += (uint64_t)seen;
	race->total_runs += (uint64_t)runs;
	if (f->last_counted != r->place) {
		race->rounds++;
		race->earlier += r->before;
	}
	f->last_counted = r->place;
	f->seen_base |= r->base;
	if (r->before)
		fold_before(f, r, v);
	if (r->now)
		fold_now(f, seen, runs, v);
}

/* ---- other facts of one race ---- */

static int read_sides(struct listing *l, struct store_race *r, struct err *err)
{
	struct store_text *text = l->out->text;
	struct db_rows *rows =
		db_query(l->s->db, err,
			 "SELECT name, function0, module0, kind0, file0, function1, module1, kind1, file1, datum, place "
			 "FROM race WHERE id = $1",
			 "i", r->id);
	int rc = db_next(rows, err);

	if (rc > 0) {
		strncpy(r->name, text_copy(text, db_text(rows, 0)), sizeof(r->name) - 1);
		store_side_columns(rows, 1, text, r->sides);
		r->datum = text_copy(text, db_text(rows, db_text(rows, 9)[0] ? 9 : 10));
	} else if (rc == 0) {
		rc = err_set(err, EXIT_INPUT, "%s: the store is damaged: a race of which other races are aliases is missing",
			     store_where(l->s));
	}
	db_rows_end(rows);
	return rc;
}

static int read_builds(struct listing *l, struct store_race *r, struct err *err)
{
	struct db_rows *rows = db_query(
		l->s->db, err,
		"SELECT count(DISTINCT b.kernel_id) FROM race r JOIN build_race b ON b.race_id = r.id WHERE r.line = $1", "i",
		r->id);
	int rc = store_row(rows, NULL, err, "i", &r->builds);

	if (rc < 0)
		return -1;
	rows = db_query(l->s->db, err,
			"SELECT DISTINCT b.report FROM race r JOIN build_race b ON b.race_id = r.id WHERE r.line = $1 "
			"ORDER BY b.report LIMIT 8",
			"i", r->id);
	return store_row_texts(rows, l->out->text, " ", &r->reports, err);
}

static int read_triage(struct listing *l, struct store_race *r, struct err *err)
{
	struct db_rows *rows = db_query(l->s->db, err,
					"SELECT t.state, t.at, t.who, t.note, t.id FROM race r JOIN said t ON t.race_id = r.id "
					"WHERE r.line = $1 ORDER BY t.at DESC, t.state DESC, t.who DESC, t.note DESC LIMIT 1",
					"i", r->id);
	int64_t said = 0, state = STORE_TRIAGE_NEW;
	int rc;

	r->who = r->note = r->mended = "";
	rc = store_row(rows, l->out->text, err, "iitti", &state, &r->triaged, &r->who, &r->note, &said);
	r->triage = store_triage_of(state);
	if (rc < 0 || r->triage != STORE_TRIAGE_FIXED)
		return rc;
	return store_mended(l->s, said, l->out->text, &r->mended, err);
}

/* Returns whether the kernel with this version line should have the fix of a race that a user marked as fixed. */
static bool should_be_mended(const struct store_race *r, const char *banner)
{
	/* If the kernel's version is unknown, assume that it has the fix: a race that comes back must not be hidden. */
	return !r->mended[0] || version_has_mend(banner, r->mended) != VERSION_HAS_NOT;
}

/* A race that a user marked as fixed, while the runs that saw it afterwards are read. */
struct fixed {
	const struct selection *selection;
	const struct store_race *race;
	bool back;
};

static int look_back(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct fixed *f = ctx;
	const struct selection_round *round = selection_round(f->selection, db_int(rows, 0));

	(void)err;
	f->back |= round && round->now && should_be_mended(f->race, db_text(rows, 1));
	return 0;
}

/*
 * Returns 1 if a selected round has a run that saw the race, that started after a user marked the race as fixed, and whose
 * kernel has the fix; else 0; or -1.
 */
static int is_back(struct listing *l, const struct store_race *r, struct err *err)
{
	struct fixed fixed = {&l->selection, r, false};
	struct db_rows *rows;

	if (r->triage != STORE_TRIAGE_FIXED)
		return 0;
	rows = db_query(
		l->s->db, err,
		"SELECT DISTINCT u.round_id, k.banner FROM race r JOIN build_race b ON b.race_id = r.id "
		"JOIN sighting s ON s.build_race_id = b.id JOIN run u ON u.id = s.run_id JOIN kernel k ON k.id = b.kernel_id "
		"WHERE r.line = $1 AND u.started > $2",
		"ii", r->id, r->triaged);
	return db_each(rows, look_back, &fixed, err) < 0 ? -1 : fixed.back;
}

static enum store_change change_of(const struct folded *f, bool back)
{
	if (!f->seen_now)
		return STORE_CHANGE_GONE;
	if (back)
		return STORE_CHANGE_BACK;
	if (!f->has_last)
		return STORE_CHANGE_NEW;
	if (f->now.class != f->last.class || strcmp(f->now.rule, f->last.rule) != 0)
		return STORE_CHANGE_VERDICT;
	return f->seen_base ? STORE_CHANGE_NONE : STORE_CHANGE_AGAIN;
}

/*
 * Complete a race after its last round, and append it to the list if a selected round or the base round saw it. `all`: all
 * rounds are selected, so no race is new or gone.
 */
static int finish(struct listing *l, struct folded *f, bool all, struct err *err)
{
	static const struct store_verdict none = {.class = VERDICT_UNCLEAR, .rule = "", .evidence = "", .suppressed = ""};
	struct store_race *r = &f->race, *added;
	int back;

	/* Skip a race that only later rounds, or rounds of another campaign, have. */
	if (!r->id || (!f->seen_now && !f->seen_base))
		return 0;
	if (read_sides(l, r, err) < 0 || read_builds(l, r, err) < 0 || read_triage(l, r, err) < 0)
		return -1;
	back = is_back(l, r, err);
	if (back < 0)
		return -1;
	r->change = all ? STORE_CHANGE_NONE : change_of(f, back);
	r->verdict = f->seen_now ? f->now : f->last;
	r->before = f->has_last ? f->last : none;
	added = list_grow(&l->out->list, &l->out->count, sizeof(*added), err);
	if (!added)
		return -1;
	*added = *r;
	return 0;
}

/* ---- all races ---- */

/*
 * races_sql selects all rounds of each race that is in a selected round or in the base round; all_sql selects all rounds of all
 * races.
 */
static const char races_sql[] =
	"SELECT r.line, x.round_id, x.seen, x.runs, v.class, v.rank, v.rule, v.evidence, v.suppressed, v.id FROM "
	"race r JOIN race_round x ON x.race_id = r.id JOIN round d ON d.id = x.round_id JOIN verdict v ON v.id = "
	"x.verdict_id WHERE r.line IN (SELECT o.line FROM race_round y JOIN race o ON o.id = y.race_id WHERE "
	"y.round_id IN (SELECT e.id FROM round e WHERE e.campaign = $1 AND (e.started, e.uuid) >= ($2, $3) AND "
	"(e.started, e.uuid) <= ($4, $5))) AND ($6 = 0 OR r.line = (SELECT w.line FROM race w WHERE w.id = $6)) "
	"ORDER BY r.line, d.started, d.uuid, r.id";
static const char all_sql[] =
	"SELECT r.line, x.round_id, x.seen, x.runs, v.class, v.rank, v.rule, v.evidence, v.suppressed, v.id FROM race r "
	"JOIN race_round x ON x.race_id = r.id JOIN round d ON d.id = x.round_id JOIN verdict v ON v.id = x.verdict_id "
	"WHERE ($1 = 0 OR r.line = (SELECT w.line FROM race w WHERE w.id = $1)) ORDER BY r.line, d.started, d.uuid, r.id";

static struct db_rows *query_races(struct listing *l, const struct store_races_query *q, struct err *err)
{
	const struct selection_round *last = l->selection.last,
				     *first = l->selection.base ? l->selection.base : l->selection.first;

	if (!q->round)
		return db_query(l->s->db, err, all_sql, "i", q->race);
	return db_query(l->s->db, err, races_sql, "tititi", last->campaign, first->started, first->uuid, last->started,
			last->uuid, q->race);
}

static int read_races(struct listing *l, const struct store_races_query *q, struct err *err)
{
	struct db_rows *rows = query_races(l, q, err);
	struct folded f = {0};
	int rc = db_next(rows, err);

	for (; rc > 0; rc = db_next(rows, err)) {
		const struct selection_round *round = selection_round(&l->selection, db_int(rows, 1));

		if (db_int(rows, 0) != f.race.id) {
			if (finish(l, &f, !q->round, err) < 0) {
				rc = -1;
				break;
			}
			f = (struct folded){.race.id = db_int(rows, 0)};
		}
		if (round)
			fold(&f, round, db_int(rows, 2), db_int(rows, 3), verdict_of(l, rows));
	}
	if (rc == 0)
		rc = finish(l, &f, !q->round, err);
	db_rows_end(rows);
	return rc;
}

static int by_weight(const void *left, const void *right)
{
	const struct store_race *a = left, *b = right;
	const char *const texts[][2] = {
		{a->sides[0].function, b->sides[0].function},
		{a->sides[1].function, b->sides[1].function},
		{a->datum, b->datum},
		{a->name, b->name},
	};
	int order = (int)a->change - (int)b->change;

	if (!order)
		order = (int)a->verdict.class - (int)b->verdict.class;
	if (!order)
		order = b->verdict.rank - a->verdict.rank;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && !order; i++)
		order = strcmp(texts[i][0], texts[i][1]);
	return order;
}

int store_races(struct store *s, const struct store_races_query *q, struct store_races *out, struct err *err)
{
	struct listing l = {.s = s, .out = out};
	int rc;

	*out = (struct store_races){0};
	rc = store_read_begin(s, &out->text, err);
	if (rc == 0)
		rc = selection_init(&l.selection, s, q, out->text, err);
	if (rc == 0 && l.selection.count)
		rc = read_races(&l, q, err);
	selection_free(&l.selection);
	rc = store_read_end(s, rc, out->text, err);
	if (rc == 0 && out->count)
		qsort(out->list, out->count, sizeof(*out->list), by_weight);
	if (rc < 0)
		store_races_free(out);
	return rc;
}

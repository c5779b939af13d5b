// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/campaign/store/race_rounds.h"

#include <stdlib.h>

#include "hv/campaign/store/internal.h"

void store_race_rounds_free(struct store_race_rounds *r)
{
	free(r->list);
	text_free(r->text);
	*r = (struct store_race_rounds){0};
}

/* Two races that are shown as one can both be in a round. Their rows are adjacent; add the second to the first. */
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

static int read_row(struct store_race_rounds *out, const struct db_rows *rows, struct err *err)
{
	int64_t class = db_int(rows, 6);
	const struct store_race_round row = {
		.round = db_int(rows, 0),
		.started = db_int(rows, 1),
		.campaign = text_copy(out->text, db_text(rows, 2)),
		.number = (uint64_t)db_int(rows, 3),
		.seen = (uint64_t)db_int(rows, 4),
		.runs = (uint64_t)db_int(rows, 5),
		.class = class >= VERDICT_HARMFUL && class <= VERDICT_BENIGN ? (enum verdict_class) class : VERDICT_UNCLEAR,
		.rank = (int)db_int(rows, 7),
		.rule = text_copy(out->text, db_text(rows, 8)),
	};
	struct store_race_round *last;

	if (out->count && out->list[out->count - 1].round == row.round) {
		add_row(&out->list[out->count - 1], &row);
		return 0;
	}
	last = store_grow(&out->list, &out->count, sizeof(*out->list), err);
	if (!last)
		return -1;
	*last = row;
	return 0;
}

static int read_rows(struct store *s, int64_t race, struct store_race_rounds *out, struct err *err)
{
	struct db_rows *rows =
		db_query(s->db, err,
			 "SELECT o.id, o.started, o.campaign, o.number, x.seen, x.runs, v.class, v.rank, v.rule FROM race r "
			 "JOIN race_round x ON x.race_id = r.id JOIN round o ON o.id = x.round_id "
			 "JOIN verdict v ON v.id = x.verdict_id WHERE r.line = $1 ORDER BY o.started, o.uuid",
			 "i", race);
	int rc = rows ? db_next(rows, err) : -1;

	while (rc > 0)
		rc = read_row(out, rows, err) < 0 ? -1 : db_next(rows, err);
	db_rows_end(rows);
	return rc;
}

int store_race_rounds(struct store *s, int64_t race, struct store_race_rounds *out, struct err *err)
{
	int rc;

	*out = (struct store_race_rounds){.text = text_new(err)};
	rc = out->text ? db_begin(s->db, false, err) : -1;
	if (rc == 0) {
		rc = read_rows(s, race, out, err);
		db_rollback(s->db);
	}
	if (rc == 0 && text_failed(out->text, err))
		rc = -1;
	if (rc < 0)
		store_race_rounds_free(out);
	return rc;
}

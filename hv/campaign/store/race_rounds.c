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

static int read_row(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct store_race_rounds *out = ctx;
	struct store_race_round row = {.class = store_class_of(db_int(rows, 6))}, *last;

	store_columns(rows, 0, out->text, "iitiii", &row.round, &row.started, &row.campaign, &row.number, &row.seen, &row.runs);
	store_columns(rows, 7, out->text, "nt", &row.rank, &row.rule);
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

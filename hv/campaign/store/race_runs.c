// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/campaign/store/race_runs.h"

#include <stdlib.h>

#include "hv/campaign/store/internal.h"

static int read_row(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct store_race_runs *out = ctx;
	struct store_race_run *r = list_grow(&out->list, &out->count, sizeof(*out->list), err);

	if (!r)
		return -1;
	store_columns(rows, 0, out->text, "cntiitittttttii", &r->class, &r->rank, &r->rule, &r->run, &r->started, &r->campaign,
		      &r->number, &r->key, &r->banner, &r->build_id, &r->report, &r->command, &r->folder, &r->seen,
		      &r->first_ns);
	return 0;
}

static const char sql[] =
	"SELECT v.class, v.rank, v.rule, u.id, u.started, o.campaign, o.number, u.cell, k.banner, k.build_id, b.report, "
	"u.command, "
	"u.folder, s.seen, s.first_ns FROM race r JOIN build_race b ON b.race_id = r.id JOIN sighting s ON s.build_race_id = "
	"b.id "
	"JOIN run u ON u.id = s.run_id JOIN round o ON o.id = u.round_id JOIN kernel k ON k.id = b.kernel_id "
	"JOIN verdict v ON v.id = s.verdict_id WHERE r.line = $1 ORDER BY u.started DESC, u.uuid, b.report LIMIT $2";

int store_race_runs(struct store *s, int64_t race, unsigned most, struct store_race_runs *out, struct err *err)
{
	int rc;

	*out = (struct store_race_runs){0};
	rc = store_read_begin(s, &out->text, err);
	if (rc == 0)
		rc = db_each(db_query(s->db, err, sql, "ii", race, (int64_t)most), read_row, out, err);
	rc = store_read_end(s, rc, out->text, err);
	if (rc < 0)
		store_race_runs_free(out);
	return rc;
}

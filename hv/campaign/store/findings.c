// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "hv/campaign/store/internal.h"

void store_findings_free(struct store_findings *f)
{
	free(f->list);
	text_free(f->text);
	*f = (struct store_findings){0};
}

static int read_finding(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct store_findings *out = ctx;
	struct store_finding_entry *f = store_grow(&out->list, &out->count, sizeof(*f), err);

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

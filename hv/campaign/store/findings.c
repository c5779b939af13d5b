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
	f->key = text_copy(out->text, db_text(rows, 0));
	f->kind = text_copy(out->text, db_text(rows, 1));
	f->line = text_copy(out->text, db_text(rows, 2));
	f->file = text_copy(out->text, db_text(rows, 3));
	f->command = text_copy(out->text, db_text(rows, 4));
	f->folder = text_copy(out->text, db_text(rows, 5));
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
	int rc = -1;

	*out = (struct store_findings){.text = text_new(err)};
	if (!out->text || db_begin(s->db, false, err) < 0)
		goto out;
	rc = db_each(db_query(s->db, err, findings_sql, "i", round), read_finding, out, err);
	db_rollback(s->db);
	if (rc == 0 && text_failed(out->text, err))
		rc = -1;
out:
	if (rc < 0)
		store_findings_free(out);
	return rc;
}

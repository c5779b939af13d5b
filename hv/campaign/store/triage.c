// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores and lists the triage of races by users. */
#include <stdlib.h>

#include "hv/campaign/store/internal.h"

void store_history_free(struct store_history *h)
{
	free(h->list);
	text_free(h->text);
	*h = (struct store_history){0};
}

/* Move *at after the time of the race's last state: two states in the same millisecond would have no order. */
static int time_of(struct store *s, int64_t race, int64_t *at, struct err *err)
{
	int64_t last = 0;

	if (*at)
		return 0;
	*at = store_now();
	if (db_number(s->db, err, &last,
		      "SELECT coalesce(max(t.at), 0) FROM said t JOIN race r ON r.id = t.race_id WHERE r.line = "
		      "(SELECT w.line FROM race w WHERE w.id = $1)",
		      "i", race) < 0)
		return -1;
	if (last == *at)
		*at = last + 1;
	return 0;
}

static int add_entry(struct store *s, int64_t race, enum store_triage triage, const char *note, const char *who, int64_t at,
		     struct err *err)
{
	int64_t known = 0;

	if (db_number(s->db, err, &known, "SELECT count(*) FROM race WHERE id = $1", "i", race) < 0)
		return -1;
	if (!known)
		return err_set(err, EXIT_INPUT, "%s: the store has no such race", store_where(s));
	if (time_of(s, race, &at, err) < 0)
		return -1;
	return db_exec(s->db, err,
		       "INSERT INTO said (race_id, at, state, who, note) VALUES ($1, $2, $3, $4, $5) "
		       "ON CONFLICT (race_id, at, state, who, note) DO NOTHING",
		       "iiitt", race, at, (int64_t)triage, who, note);
}

int store_triage_set(struct store *s, int64_t race, enum store_triage triage, const char *note, const char *who, int64_t at,
		     struct err *err)
{
	if (db_begin(s->db, true, err) < 0)
		return -1;
	return db_end(s->db, add_entry(s, race, triage, note, who, at, err), err);
}

static const char history_sql[] =
	"SELECT t.state, t.at, t.who, t.note FROM said t JOIN race r ON r.id = t.race_id WHERE r.line = (SELECT w.line "
	"FROM race w WHERE w.id = $1) ORDER BY t.at, t.state, t.who, t.note";

static int read_entry(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct store_history *out = ctx;
	struct store_triage_entry *entry = store_grow(&out->list, &out->count, sizeof(*entry), err);

	if (!entry)
		return -1;
	entry->triage = store_triage_of(db_int(rows, 0));
	store_columns(rows, 1, out->text, "itt", &entry->at, &entry->who, &entry->note);
	return 0;
}

int store_history(struct store *s, int64_t race, struct store_history *out, struct err *err)
{
	int rc;

	*out = (struct store_history){0};
	rc = store_read_begin(s, &out->text, err);
	if (rc == 0)
		rc = db_each(db_query(s->db, err, history_sql, "i", race), read_entry, out, err);
	rc = store_read_end(s, rc, out->text, err);
	if (rc < 0)
		store_history_free(out);
	return rc;
}

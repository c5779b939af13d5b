// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores and lists the triage of races by users. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/internal.h"
#include "hv/campaign/store/version.h"

/* Least number of digits of a build id or commit that a user may give. Git abbreviates commits to at least 7. */
#define BUILD_WORD_MIN 7

/*
 * At most this many kernel versions that have a race's fix are read. `campaign triage` writes at most 32; the rows of a foreign
 * store are not trusted.
 */
#define MENDS_READ_MAX 64

/*
 * If *at is 0, set it to the current time. But if the race has a state of this time or later, set it to 1 ms after the race's
 * last state: two states in the same millisecond would have no order. A state can be later than now if it is from a machine
 * whose clock is ahead.
 */
static int time_of(struct store *s, int64_t race, int64_t *at, struct err *err)
{
	int64_t last = 0;

	if (*at)
		return 0;
	*at = realtime_ms();
	if (db_number(s->db, err, &last,
		      "SELECT coalesce(max(t.at), 0) FROM said t JOIN race r ON r.id = t.race_id WHERE r.line = "
		      "(SELECT w.line FROM race w WHERE w.id = $1)",
		      "i", race) < 0)
		return -1;
	if (last >= *at)
		*at = last < INT64_MAX ? last + 1 : last;
	return 0;
}

/*
 * Add an entry with a triage state to the race's history, at the time *at (ms since 1970). If *at is 0, time_of() first sets it
 * to a time after all other entries of the race.
 */
static int add_entry(struct store *s, int64_t race, enum store_triage triage, const char *note, const char *who, int64_t *at,
		     struct err *err)
{
	int64_t known = 0;

	if (db_number(s->db, err, &known, "SELECT count(*) FROM race WHERE id = $1", "i", race) < 0)
		return -1;
	if (!known)
		return err_set(err, EXIT_INPUT, "%s: the store has no such race", store_where(s));
	if (time_of(s, race, at, err) < 0)
		return -1;
	return db_exec(s->db, err,
		       "INSERT INTO said (race_id, at, state, who, note) VALUES ($1, $2, $3, $4, $5) "
		       "ON CONFLICT (race_id, at, state, who, note) DO NOTHING",
		       "iiitt", race, *at, (int64_t)triage, who, note);
}

/* Add the versions that have the fix to the entry that add_entry() has made with the same arguments. */
static int add_versions(struct store *s, int64_t race, const char *const *mended, size_t count, const char *note,
			const char *who, int64_t at, struct err *err)
{
	int64_t said = 0;

	if (db_number(s->db, err, &said,
		      "SELECT t.id FROM said t WHERE t.race_id = $1 AND t.at = $2 AND t.state = $3 AND t.who = $4 AND t.note = "
		      "$5",
		      "iiitt", race, at, (int64_t)STORE_TRIAGE_FIXED, who, note) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (db_exec(s->db, err,
			    "INSERT INTO mended (said_id, version) VALUES ($1, $2) ON CONFLICT (said_id, version) DO NOTHING",
			    "it", said, mended[i]) < 0)
			return -1;
	}
	return 0;
}

int store_mend_set(struct store *s, int64_t race, const char *const *mended, size_t count, const char *note, const char *who,
		   int64_t at, struct err *err)
{
	int rc;

	if (db_begin(s->db, true, err) < 0)
		return -1;
	rc = add_entry(s, race, STORE_TRIAGE_FIXED, note, who, &at, err);
	if (rc == 0)
		rc = add_versions(s, race, mended, count, note, who, at, err);
	return db_end(s->db, rc, err);
}

/* ---- kernel builds that users name ---- */

struct builds {
	const char *word; /* what the user gave: hexadecimal digits */
	size_t count;
	char release[VERSION_TEXT_MAX];
	bool nameless, several;
};

/* Returns whether the release ends with "-g" and the abbreviation of a commit, and `word` is the beginning of this commit. */
static bool ends_with_commit(const char *release, const char *word)
{
	const char *commit = strstr(release, "-g");
	size_t len = commit ? strspn(commit + 2, "0123456789abcdef") : 0, given = strlen(word);

	return len >= BUILD_WORD_MIN && strncmp(commit + 2, word, len < given ? len : given) == 0;
}

static int take_build(const struct db_rows *rows, void *ctx, struct err *err)
{
	const char *build_id = db_text(rows, 0);
	char release[VERSION_TEXT_MAX];
	bool named = version_release(db_text(rows, 1), release);
	struct builds *b = ctx;

	(void)err;
	if (strncmp(build_id, b->word, strlen(b->word)) != 0 && !ends_with_commit(release, b->word))
		return 0;
	b->nameless |= !named;
	b->several |= b->count && strcmp(b->release, release) != 0;
	b->count++;
	snprintf(b->release, sizeof(b->release), "%s", release);
	return 0;
}

int store_build_release(struct store *s, const char *word, char *release, size_t size, struct err *err)
{
	struct builds b = {.word = word};
	int rc;

	if (strlen(word) < BUILD_WORD_MIN || word[strspn(word, "0123456789abcdef")])
		return err_set(
			err, EXIT_USAGE,
			"%.80s: this is no version, build id or commit; give for example 6.1.115 or v6.13-rc2, or at least "
			"%d hexadecimal digits",
			word, BUILD_WORD_MIN);
	if (db_begin(s->db, false, err) < 0)
		return -1;
	rc = db_each(db_query(s->db, err, "SELECT build_id, banner FROM kernel ORDER BY build_id, banner", ""), take_build, &b,
		     err);
	db_rollback(s->db);
	if (rc < 0)
		return -1;
	if (!b.count)
		return err_set(
			err, EXIT_USAGE,
			"%.80s: no kernel in the store has this build id or commit; give the version that brought the fix, "
			"for example 6.1.115",
			word);
	if (b.nameless || b.several)
		return err_set(err, EXIT_USAGE, "%.80s: %s; give the version that brought the fix, for example 6.1.115", word,
			       b.several ? "kernels of several versions have a build id or a commit that begins with this"
					 : "the version of this kernel is not known");
	snprintf(release, size, "%s", b.release);
	return 0;
}

/* ---- the history ---- */

int store_triage_set(struct store *s, int64_t race, enum store_triage triage, const char *note, const char *who, int64_t at,
		     struct err *err)
{
	if (db_begin(s->db, true, err) < 0)
		return -1;
	return db_end(s->db, add_entry(s, race, triage, note, who, &at, err), err);
}

static const char history_sql[] =
	"SELECT t.state, t.at, t.who, t.note, t.id FROM said t JOIN race r ON r.id = t.race_id WHERE r.line = (SELECT w.line "
	"FROM race w WHERE w.id = $1) ORDER BY t.at, t.state, t.who, t.note";

static int read_entry(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct store_history *out = ctx;
	struct store_triage_entry *entry = list_grow(&out->list, &out->count, sizeof(*entry), err);

	if (!entry)
		return -1;
	entry->triage = store_triage_of(db_int(rows, 0));
	store_columns(rows, 1, out->text, "itt", &entry->at, &entry->who, &entry->note);
	entry->mended = "";
	entry->said = db_int(rows, 4);
	return 0;
}

int store_mended(struct store *s, int64_t said, struct store_text *text, const char **out, struct err *err)
{
	struct db_rows *rows = db_query(s->db, err, "SELECT version FROM mended WHERE said_id = $1 ORDER BY version LIMIT $2",
					"ii", said, (int64_t)MENDS_READ_MAX);

	return store_row_texts(rows, text, ", ", out, err);
}

int store_history(struct store *s, int64_t race, struct store_history *out, struct err *err)
{
	int rc;

	*out = (struct store_history){0};
	rc = store_read_begin(s, &out->text, err);
	if (rc == 0)
		rc = db_each(db_query(s->db, err, history_sql, "i", race), read_entry, out, err);
	for (size_t i = 0; rc == 0 && i < out->count; i++)
		rc = store_mended(s, out->list[i].said, out->text, &out->list[i].mended, err);
	rc = store_read_end(s, rc, out->text, err);
	if (rc < 0)
		store_history_free(out);
	return rc;
}

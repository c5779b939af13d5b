// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SQLite. A file that somebody hands over is not trusted: its schema runs no code (no triggers, no views, no functions with
 * effects), and damaged pages are errors.
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hv/campaign/store/db_backend.h"
#include "hv/campaign/store/schema.h"

struct sqlite_rows {
	struct db_rows rows; /* This must be the first member. */
	sqlite3_stmt *stmt;
	bool ended;
};

static const char *const words[] = {"INTEGER PRIMARY KEY", "TEXT", "BLOB", "WITHOUT ROWID"};

/* ---- errors ---- */

static int fail_to_open(struct db *db, struct err *err)
{
	sqlite3 *handle = db->handle;
	int host = sqlite3_system_errno(handle);

	/* What cannot be opened then is a file beside it that is not there yet. */
	if (access(db->where, R_OK) == 0 && access(db->where, W_OK) < 0)
		return err_set(err, EXIT_INPUT, "%s: the store is read-only: %s; nothing was changed", db->shown,
			       strerror(errno));
	return err_set(err, EXIT_INPUT, "%s: cannot open the store: %s", db->shown,
		       host ? strerror(host) : sqlite3_errmsg(handle));
}

static int fail_by_disk(struct db *db, struct err *err)
{
	sqlite3 *handle = db->handle;
	int host = sqlite3_system_errno(handle);

	if (host == ENOSPC || host == EDQUOT || host == EFBIG)
		return err_set(err, EXIT_INPUT, "%s: no room for the store: %s; nothing was changed", db->shown,
			       strerror(host));
	if (sqlite3_extended_errcode(handle) == SQLITE_IOERR_WRITE && !host)
		return err_set(err, EXIT_INPUT,
			       "%s: cannot write the store: there is no room for it, or its disk fails; nothing was changed",
			       db->shown);
	return err_set(err, EXIT_INPUT, "%s: cannot read or write the store: %s", db->shown,
		       host ? strerror(host) : sqlite3_errmsg(handle));
}

static int fail(struct db *db, struct err *err)
{
	sqlite3 *handle = db->handle;

	switch (handle ? sqlite3_extended_errcode(handle) & 0xff : SQLITE_NOMEM) {
	case SQLITE_NOMEM:
		return err_set(err, EXIT_INTERNAL, "out of memory");
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(err, EXIT_INPUT,
			       "%s: another process has locked the store for longer than %.1f s; try again later", db->shown,
			       db->wait_ms / 1000.0);
	case SQLITE_READONLY:
		return err_set(err, EXIT_INPUT, "%s: the store is read-only; nothing was changed", db->shown);
	case SQLITE_FULL:
		return err_set(err, EXIT_INPUT, "%s: the store's disk is full; nothing was changed", db->shown);
	case SQLITE_NOTADB:
		return err_set(err, EXIT_INPUT, "%s: this file is no store of campaigns (not an SQLite database)", db->shown);
	case SQLITE_CORRUPT:
		return err_set(err, EXIT_INPUT,
			       "%s: the store is damaged; take it from a backup, or merge what can be read into a new store",
			       db->shown);
	case SQLITE_CANTOPEN:
		return fail_to_open(db, err);
	case SQLITE_IOERR:
		return fail_by_disk(db, err);
	default:
		return err_set(err, EXIT_INPUT, "%s: the store is not as this version makes it: %s", db->shown,
			       sqlite3_errmsg(handle));
	}
}

/* ---- what it is ---- */

/* The number that a pragma gives. */
static int pragma(struct db *db, const char *sql, int64_t *out, struct err *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc = 0;

	if (sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL) != SQLITE_OK || sqlite3_step(stmt) != SQLITE_ROW)
		rc = fail(db, err);
	else
		*out = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return rc;
}

static int mark_read(struct db *db, struct db_mark *out, struct err *err)
{
	int64_t tables = 0, others = 0;

	/* The tables first: another process may make the store meanwhile, and tables without a mark are no store. */
	if (pragma(db, "SELECT count(*) FROM sqlite_master", &tables, err) < 0 ||
	    pragma(db, "SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index')", &others, err) < 0 ||
	    pragma(db, "PRAGMA application_id", &out->application, err) < 0 ||
	    pragma(db, "PRAGMA user_version", &out->version, err) < 0)
		return -1;
	out->empty = tables == 0;
	/* No store has any. Who puts one into a file wants it to be run. */
	if (others)
		out->application = -1;
	return 0;
}

/* ---- open ---- */

static int script(struct db *db, const char *sql, struct err *err)
{
	return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(db, err);
}

/* The folders that `path` is in. */
static int make_folders(const char *path, struct err *err)
{
	char *copy = strdup(path);
	int rc = 0;

	if (!copy)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	for (char *slash = strchr(copy + 1, '/'); copy[0] && slash && rc == 0; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			rc = err_set(err, EXIT_INPUT, "%s: cannot make this folder for the store: %s", copy, strerror(errno));
		*slash = '/';
	}
	free(copy);
	return rc;
}

/* What a guest's memory holds is nobody else's to read. SQLite takes an empty file, and fails where there can be none. */
static void make_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
}

static int open_handle(struct db *db, const char *name, int flags, unsigned wait_ms)
{
	int rc = sqlite3_open_v2(name, (sqlite3 **)&db->handle, flags | SQLITE_OPEN_EXRESCODE, NULL);

	if (rc != SQLITE_OK)
		return rc;
	sqlite3_busy_timeout(db->handle, (int)wait_ms);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	/* The first page is read only now. */
	return sqlite3_exec(db->handle, "PRAGMA schema_version", NULL, NULL, NULL);
}

/*
 * The name of the file as a URI that says that nobody writes it. A store in WAL mode on a disk that is read-only can only be
 * read like that.
 */
static char *immutable_name(const char *path)
{
	char *name = malloc(3 * strlen(path) + sizeof("file:?immutable=1")), *to = name;

	if (!name)
		return NULL;
	to += sprintf(to, "file:");
	for (; *path; path++) {
		if (strchr("?#%", *path))
			to += sprintf(to, "%%%02X", (unsigned char)*path);
		else
			*to++ = *path;
	}
	strcpy(to, "?immutable=1");
	return name;
}

static bool has_log(const char *path)
{
	struct stat st;
	char *log = NULL;
	bool has = asprintf(&log, "%s-wal", path) >= 0 && stat(log, &st) == 0 && st.st_size > 0;

	free(log);
	return has;
}

static int open_to_read(struct db *db, unsigned wait_ms)
{
	int rc = open_handle(db, db->where, SQLITE_OPEN_READONLY, wait_ms);
	char *name;

	if (((rc & 0xff) != SQLITE_CANTOPEN && (rc & 0xff) != SQLITE_READONLY) || access(db->where, R_OK) < 0 ||
	    has_log(db->where))
		return rc;
	name = immutable_name(db->where);
	if (!name)
		return SQLITE_NOMEM;
	sqlite3_close(db->handle);
	db->handle = NULL;
	rc = open_handle(db, name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, wait_ms);
	free(name);
	return rc;
}

static int sqlite_open(struct db *db, enum db_mode mode, unsigned wait_ms, struct err *err)
{
	int flags = SQLITE_OPEN_READWRITE | (mode == DB_MAKE ? SQLITE_OPEN_CREATE : 0);
	struct db_mark mark;

	if (mode == DB_MAKE && make_folders(db->where, err) < 0)
		return -1;
	if (mode == DB_MAKE)
		make_file(db->where);
	if (mode != DB_MAKE && access(db->where, F_OK) < 0)
		return err_set(err, EXIT_INPUT, "%s: cannot open the store: %s", db->shown, strerror(errno));
	if ((mode == DB_READ ? open_to_read(db, wait_ms) : open_handle(db, db->where, flags, wait_ms)) != SQLITE_OK)
		return fail(db, err);
	if (mode == DB_READ)
		return 0;
	if (mark_read(db, &mark, err) < 0)
		return -1;
	/* What is no store is refused soon, and stays as it is: the mode of its journal is written to it. */
	if (mark.application != SCHEMA_APPLICATION && !mark.empty)
		return 0;
	/* What is committed is on the disk. An incremental vacuum can only be asked for before there is a table. */
	return script(
		db,
		"PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; "
		"PRAGMA cell_size_check=ON; PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY",
		err);
}

static void sqlite_close_handle(struct db *db)
{
	sqlite3_close(db->handle);
}

static void set_wait(struct db *db)
{
	sqlite3_busy_timeout(db->handle, (int)db->wait_ms);
}

static int begin(struct db *db, bool write, struct err *err)
{
	return script(db, write ? "BEGIN IMMEDIATE" : "BEGIN", err);
}

static int end(struct db *db, bool commit, struct err *err)
{
	/* Some errors have rolled back already. */
	if (!commit && sqlite3_get_autocommit(db->handle))
		return 0;
	return script(db, commit ? "COMMIT" : "ROLLBACK", err);
}

/* ---- statements ---- */

static int prepare(struct db *db, struct db_statement *st, const char *types, struct err *err)
{
	char *sql = strdup(st->sql);
	sqlite3_stmt *stmt = NULL;
	int rc;

	(void)types;
	if (!sql)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	/* "$2" would be a name, and a number only by where it stands first. "?2" is a number. No statement has a dollar
	 * elsewhere. */
	for (char *dollar = strchr(sql, '$'); dollar; dollar = strchr(dollar, '$'))
		*dollar = '?';
	rc = sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL);
	free(sql);
	if (rc != SQLITE_OK)
		return fail(db, err);
	st->prepared = stmt;
	return 0;
}

static void forget(struct db *db, struct db_statement *st)
{
	(void)db;
	sqlite3_finalize(st->prepared);
}

static int bind(sqlite3_stmt *stmt, int index, const struct db_value *v)
{
	if (v->type == 'i')
		return sqlite3_bind_int64(stmt, index, v->number);
	if (v->type == 't')
		return sqlite3_bind_text64(stmt, index, v->bytes, v->len, SQLITE_TRANSIENT, SQLITE_UTF8);
	return sqlite3_bind_blob64(stmt, index, v->bytes, v->len, SQLITE_TRANSIENT);
}

static struct db_rows *ask(struct db *db, struct db_statement *st, const struct db_value *values, size_t n, struct err *err)
{
	struct sqlite_rows *r = calloc(1, sizeof(*r));

	if (!r) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	r->stmt = st->prepared;
	for (size_t i = 0; i < n; i++) {
		if (bind(r->stmt, (int)i + 1, &values[i]) == SQLITE_OK)
			continue;
		fail(db, err);
		free(r);
		return NULL;
	}
	return &r->rows;
}

static int64_t changed(struct db_rows *rows)
{
	return sqlite3_changes64(rows->db->handle);
}

static int next(struct db_rows *rows, struct err *err)
{
	struct sqlite_rows *r = (struct sqlite_rows *)rows;

	switch (r->ended ? SQLITE_DONE : sqlite3_step(r->stmt)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		r->ended = true;
		return 0;
	default:
		r->ended = true;
		return fail(rows->db, err);
	}
}

static int64_t number(const struct db_rows *rows, int column)
{
	return sqlite3_column_int64(((const struct sqlite_rows *)rows)->stmt, column);
}

static const char *text(const struct db_rows *rows, int column)
{
	const char *s = (const char *)sqlite3_column_text(((const struct sqlite_rows *)rows)->stmt, column);

	return s ? s : "";
}

static const void *bytes(const struct db_rows *rows, int column, size_t *len)
{
	const struct sqlite_rows *r = (const struct sqlite_rows *)rows;
	const void *b = sqlite3_column_blob(r->stmt, column);

	*len = (size_t)sqlite3_column_bytes(r->stmt, column);
	return b ? b : "";
}

static void rows_end(struct db_rows *rows)
{
	struct sqlite_rows *r = (struct sqlite_rows *)rows;

	sqlite3_reset(r->stmt);
	sqlite3_clear_bindings(r->stmt);
	free(r);
}

/* ---- the database as a whole ---- */

static int mark_write(struct db *db, int64_t application, int64_t version, struct err *err)
{
	char sql[96];

	/* A pragma takes no values. */
	snprintf(sql, sizeof(sql), "PRAGMA application_id=%d; PRAGMA user_version=%d", (int)application, (int)version);
	return script(db, sql, err);
}

static int64_t size(struct db *db, struct err *err)
{
	int64_t pages = 0, each = 0;

	if (pragma(db, "PRAGMA page_count", &pages, err) < 0 || pragma(db, "PRAGMA page_size", &each, err) < 0)
		return -1;
	return pages * each;
}

static int shrink(struct db *db, struct err *err)
{
	return script(db, "PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE); ANALYZE", err);
}

const struct db_backend db_sqlite = {
	.words = words,
	.open = sqlite_open,
	.close = sqlite_close_handle,
	.set_wait = set_wait,
	.begin = begin,
	.end = end,
	.script = script,
	.prepare = prepare,
	.forget = forget,
	.ask = ask,
	.changed = changed,
	.next = next,
	.number = number,
	.text = text,
	.bytes = bytes,
	.rows_end = rows_end,
	.mark_read = mark_read,
	.mark_write = mark_write,
	.size = size,
	.shrink = shrink,
};

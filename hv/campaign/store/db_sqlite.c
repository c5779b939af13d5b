// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The SQLite backend. A file can come from an untrusted source: its schema must equal ours (db_sqlite_shape.c), memory and
 * work have limits (db_sqlite_guard.c), and damaged pages are errors.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "hv/base/clock.h"
#include "hv/campaign/store/db_sqlite.h"

#define RETRY_NS 10000000 /* adopt() tries again after 10 ms */

struct sqlite_rows {
	struct db_rows rows; /* must be first: its address is taken for this struct's address */
	sqlite3_stmt *stmt;
	bool ended;
};

static const char *const words[] = {"INTEGER PRIMARY KEY", "TEXT", "BLOB", "WITHOUT ROWID"};

/* ---- the mark ---- */

/* Set *out to the number that a pragma or query returns, in the first column of the first row. */
static int pragma(struct db *db, const char *sql, int64_t *out, struct err *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc = 0;

	if (sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL) != SQLITE_OK || sqlite3_step(stmt) != SQLITE_ROW)
		rc = sqlite_fail(db, err);
	else
		*out = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return rc;
}

static int mark_read(struct db *db, struct db_mark *out, struct err *err)
{
	int64_t tables = 0;

	/*
	 * Count the tables first, then read the mark, which identifies the database as a store (struct db_mark). If another
	 * process makes the store between the two, we count 0 tables and read a mark: schema.c accepts this as a store. If we
	 * read the mark first, we could read no mark and then count tables: schema.c would refuse this as a foreign database.
	 */
	if (pragma(db, "SELECT count(*) FROM sqlite_master", &tables, err) < 0 ||
	    pragma(db, "PRAGMA application_id", &out->application, err) < 0 ||
	    pragma(db, "PRAGMA user_version", &out->version, err) < 0)
		return -1;
	out->empty = tables == 0;
	return 0;
}

/* ---- open ---- */

static int script(struct db *db, const char *sql, struct err *err)
{
	return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : sqlite_fail(db, err);
}

/* Make the folders of `path`. */
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

/*
 * Create an empty file with mode 0600, because a store can contain guest memory. SQLite accepts an empty file. If this function
 * fails, SQLite reports the error.
 */
static void make_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
}

static int open_handle(struct db *db, const char *name, int flags, enum db_mode mode)
{
	int rc = sqlite3_open_v2(name, (sqlite3 **)&db->handle, flags | SQLITE_OPEN_EXRESCODE, NULL);

	if (rc != SQLITE_OK)
		return rc;
	sqlite3_busy_timeout(db->handle, (int)db->wait_ms);
	sqlite_guard(db, mode);
	/* Read the first page now, to find errors: SQLite opens a file lazily. */
	return sqlite3_exec(db->handle, "PRAGMA schema_version", NULL, NULL, NULL);
}

/*
 * Returns the file's name as a URI that tells SQLite that no process writes the file. SQLite can read a store in WAL mode on a
 * read-only disk only with this flag.
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

static int open_to_read(struct db *db)
{
	int rc = open_handle(db, db->where, SQLITE_OPEN_READONLY, DB_READ);
	char *name;

	if (((rc & 0xff) != SQLITE_CANTOPEN && (rc & 0xff) != SQLITE_READONLY) || access(db->where, R_OK) < 0 ||
	    has_log(db->where))
		return rc;
	name = immutable_name(db->where);
	if (!name)
		return SQLITE_NOMEM;
	sqlite3_close(db->handle);
	db->handle = NULL;
	rc = open_handle(db, name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, DB_READ);
	free(name);
	return rc;
}

/* Refuse what is no regular file: opening a FIFO would block for ever, and a device would be read. */
static int check_kind(struct db *db, enum db_mode mode, struct err *err)
{
	struct stat st;

	if (stat(db->where, &st) < 0)
		return mode == DB_MAKE ? 0
				       : err_set(err, EXIT_INPUT, "%s: cannot open the store: %s", db->shown, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return err_set(err, EXIT_INPUT, "%s: cannot open the store: %s", db->shown, strerror(EISDIR));
	return S_ISREG(st.st_mode) ? 0
				   : err_set(err, EXIT_INPUT, "%s: cannot open the store: it is no regular file", db->shown);
}

static int sqlite_open(struct db *db, enum db_mode mode, struct err *err)
{
	int flags = SQLITE_OPEN_READWRITE | (mode == DB_MAKE ? SQLITE_OPEN_CREATE : 0);

	if (mode == DB_MAKE && make_folders(db->where, err) < 0)
		return -1;
	if (mode == DB_MAKE)
		make_file(db->where);
	if (check_kind(db, mode, err) < 0)
		return -1;
	if ((mode == DB_READ ? open_to_read(db) : open_handle(db, db->where, flags, mode)) != SQLITE_OK)
		return sqlite_fail(db, err);
	return 0;
}

/* Prepare the file for writing. The caller must first check that the file is a store: this writes journal_mode to the file. */
static int adopt(struct db *db, struct err *err)
{
	/* synchronous=FULL puts each commit on the disk. SQLite accepts auto_vacuum only before the first table. */
	static const char pragmas[] =
		"PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; "
		"PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY";
	const struct timespec pause = {.tv_nsec = RETRY_NS};
	uint64_t until = monotonic_ns() + db->wait_ms * UINT64_C(1000000);

	/*
	 * journal_mode=WAL fails at once, without a wait, if another process changes the mode, too: both hold the lock for
	 * reading by then, and would wait for each other.
	 */
	for (;;) {
		int rc = sqlite3_exec(db->handle, pragmas, NULL, NULL, NULL);

		if (rc == SQLITE_OK)
			return 0;
		if ((rc & 0xff) != SQLITE_BUSY || monotonic_ns() >= until)
			return sqlite_fail(db, err);
		nanosleep(&pause, NULL);
	}
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
	/* Do nothing if no transaction is open: some errors make SQLite roll the transaction back itself. */
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
	/*
	 * Replace the dollar sign by a question mark. SQLite takes "$2" as a name and numbers names by their first use, while
	 * "?2" is a number. Our statements have dollar signs only in placeholders.
	 */
	for (char *dollar = strchr(sql, '$'); dollar; dollar = strchr(dollar, '$'))
		*dollar = '?';
	rc = sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL);
	free(sql);
	if (rc != SQLITE_OK)
		return sqlite_fail(db, err);
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

static struct db_rows *query(struct db *db, struct db_statement *st, const struct db_value *values, size_t n, struct err *err)
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
		sqlite_fail(db, err);
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
		return sqlite_guard_row(rows->db, r->stmt, err) < 0 ? -1 : 1;
	case SQLITE_DONE:
		r->ended = true;
		return 0;
	default:
		r->ended = true;
		return sqlite_fail(rows->db, err);
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

	/* Print the numbers into the statement, since a pragma takes no bound values. */
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
	.query = query,
	.changed = changed,
	.next = next,
	.number = number,
	.text = text,
	.bytes = bytes,
	.rows_end = rows_end,
	.mark_read = mark_read,
	.mark_write = mark_write,
	.shape = sqlite_shape,
	.adopt = adopt,
	.sound = sqlite_sound,
	.size = size,
	.shrink = shrink,
};

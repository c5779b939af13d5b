/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations that SQLite and PostgreSQL implement for db.h. Only the files db*.c use this header. */
#ifndef OUTRIDER_CAMPAIGN_STORE_DB_BACKEND_H
#define OUTRIDER_CAMPAIGN_STORE_DB_BACKEND_H

#include <stdarg.h>

#include "hv/campaign/store/db.h"

#define DB_VALUES_MAX 24 /* maximum number of values of one statement */

/*
 * Maximum size of one value in bytes. The largest value is the compressed coverage of a kernel with a million sites: about 50
 * bytes of text for each site, which zlib reduces to about a sixth.
 */
#define DB_VALUE_MAX (64 << 20)

/*
 * Maximum length of a text in bytes. The longest text is a user's note, which is one argument of a command line. Linux limits
 * an argument to 128 KiB (MAX_ARG_STRLEN), and a byte that is not printable is kept as four.
 */
#define DB_TEXT_MAX (512 << 10)

/* One value of a statement. */
struct db_value {
	char type; /* 'i', 't' or 'b' */
	int64_t number;
	const void *bytes; /* for text and bytes */
	size_t len;
};

/* A prepared statement, which is kept for later calls. */
struct db_statement {
	struct db_statement *next;
	const char *sql; /* a string constant */
	void *prepared;
	bool busy; /* The statement's rows are being read, so it cannot run again. */
};

/* The rows of a query. A backend adds its own members in a struct whose first member is a struct db_rows. */
struct db_rows {
	struct db *db;
	struct db_statement *statement;
};

struct db_backend {
	/* The backend's replacement of each word of db_words, in the same order. */
	const char *const *words;
	int (*open)(struct db *db, enum db_mode mode, struct err *err);
	/* Close the connection. The caller has removed all prepared statements before (db_forget_all()). */
	void (*close)(struct db *db);
	/* Implements db_back(). NULL: the database is never away. */
	int (*back)(struct db *db, struct err *err);
	/* Implements db_set_wait(). NULL: setting db.wait_ms is enough. */
	void (*set_wait)(struct db *db);
	int (*begin)(struct db *db, bool write, struct err *err);
	int (*end)(struct db *db, bool commit, struct err *err);
	int (*script)(struct db *db, const char *sql, struct err *err);
	int (*prepare)(struct db *db, struct db_statement *st, const char *types, struct err *err);
	void (*forget)(struct db *db, struct db_statement *st);
	/*
	 * Run a statement without waiting for its result. NULL: this backend always waits, and db_send() calls query() instead.
	 */
	int (*send)(struct db *db, struct db_statement *st, const struct db_value *values, size_t n, struct err *err);
	/*
	 * Run a statement with `n` values for its placeholders. After that, changed() returns the number of rows that the
	 * statement changed.
	 */
	struct db_rows *(*query)(struct db *db, struct db_statement *st, const struct db_value *values, size_t n,
				 struct err *err);
	int64_t (*changed)(struct db_rows *rows);
	int (*next)(struct db_rows *rows, struct err *err);
	int64_t (*number)(const struct db_rows *rows, int column);
	const char *(*text)(const struct db_rows *rows, int column);
	const void *(*bytes)(const struct db_rows *rows, int column, size_t *len);
	void (*rows_end)(struct db_rows *rows);
	int (*mark_read)(struct db *db, struct db_mark *out, struct err *err);
	int (*mark_write)(struct db *db, int64_t application, int64_t version, struct err *err);
	/* Implement db_shape(), db_adopt() and db_sound(). NULL: the backend has nothing to do. */
	int (*shape)(struct db *db, const char *const *steps, int64_t count, struct err *err);
	int (*adopt)(struct db *db, struct err *err);
	int (*sound)(struct db *db, struct err *err);
	int64_t (*size)(struct db *db, struct err *err);
	int (*shrink)(struct db *db, struct err *err);
};

/* Words in scripts that each backend replaces by its own text. NULL ends the list. */
extern const char *const db_words[];

struct db {
	const struct db_backend *backend;
	char *where; /* as the caller gave it */
	char *shown; /* `where` without a password */
	void *handle;
	struct db_statement *statements;
	bool in_transaction;
	unsigned sent; /* number of statements that were sent, and whose results were not read yet */
	unsigned wait_ms;
	/*
	 * The number of instructions that SQLite's virtual machine has run in total, and the limit at which it stops. Only for
	 * SQLite.
	 */
	uint64_t steps, steps_max;
	/*
	 * State of a connection that db_back() makes without waiting. `call_ns`: monotonic_ns() when db_back() began to connect
	 * (0: no connection is being made). `call_wants`: the event that PQresetPoll() waits for. Only for PostgreSQL.
	 */
	uint64_t call_ns;
	int call_wants;
};

extern const struct db_backend db_sqlite, db_postgres;

/* Returns a prepared statement for `sql` that is not in use, or NULL with err set if it cannot be prepared. */
struct db_statement *db_statement(struct db *db, const char *sql, const char *types, struct err *err);

/* Returns a copy of the script with the backend's words, from malloc(), or NULL if memory runs out. */
char *db_with_words(const struct db_backend *backend, const char *sql);

/* Remove all prepared statements from the list, because their connection is gone. */
void db_forget_all(struct db *db);

#endif

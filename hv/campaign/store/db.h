/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A database, SQLite or PostgreSQL. Queries use the part of SQL that both understand. Only hv/campaign/store/ uses this header.
 *
 * Statements are string constants. They contain the placeholders $1, $2 and so on instead of values. The values are arguments
 * after `types`, which has one letter for each value:
 *
 *   i   int64_t
 *   t   const char *: a text; NULL is written as ""
 *   b   const void * and size_t: bytes
 *
 * A column must be read by the function for its type, db_int(), db_text() or db_bytes(). The tables have no NULL values.
 *
 * A function that fails sets err to the whole message for the user; store.h lists the errors. No locks: only one thread at a
 * time may use a database.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_DB_H
#define OUTRIDER_CAMPAIGN_STORE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

struct db;
struct db_rows;

enum db_mode { DB_READ, DB_WRITE, DB_MAKE };

/*
 * Open the database `where`, as store_open() describes. The caller checks with db_mark_read() whether the database is a store,
 * and of which version. Free it with db_close(). Returns NULL with err set if it cannot be opened.
 */
struct db *db_open(const char *where, enum db_mode mode, unsigned wait_ms, struct err *err);

/* Roll back an open transaction, and free the database. `db` may be NULL. */
void db_close(struct db *db);

/* Returns the path or URL of the database without a password, for messages. The string belongs to the database. */
const char *db_where(const struct db *db);

/* Set the time in milliseconds that later calls wait for another process that writes. */
void db_set_wait(struct db *db, unsigned wait_ms);

/*
 * Reconnect to a server without waiting for it (only the look-up of its host name can block). Returns 1 if the database can be
 * used; for a local file, this is always so. Returns 0 while the connection is being made: call this function again later.
 * Returns -1 with err set if the server is away: the next call starts a new connection.
 */
int db_back(struct db *db, struct err *err);

/* Begin a transaction. Only one process at a time has a transaction that writes. If the connection was lost, connect again. */
int db_begin(struct db *db, bool write, struct err *err);

/*
 * Commit the transaction. After a failure nothing was written, with one exception: if the connection is lost during the commit,
 * the server may have committed. Returns 0, or -1 with err set.
 */
int db_commit(struct db *db, struct err *err);

/* Roll the transaction back. Does nothing without a transaction. */
void db_rollback(struct db *db);

/*
 * End a transaction whose statements had the result `rc`: commit if `rc` is 0, else roll back. Returns `rc`, or -1 if the
 * commit fails.
 */
int db_end(struct db *db, int rc, struct err *err);

/* Run a statement that returns no rows. Returns the number of rows that the statement changed, or -1. */
int64_t db_run(struct db *db, struct err *err, const char *sql, const char *types, ...);

/* Run a statement as db_run() does. Returns 0, or -1 with err set. */
int db_exec(struct db *db, struct err *err, const char *sql, const char *types, ...);

/*
 * Run a statement as db_exec() does, but do not wait for a server's result. If the statement fails, a later call returns the
 * error, db_commit() at the latest. Returns 0, or -1 with err set.
 */
int db_send(struct db *db, struct err *err, const char *sql, const char *types, ...);

/*
 * Run the statements in `sql`, which have no values and each end with a semicolon. Replaces the words of db_words by the
 * backend's words. Unlike db_exec(), keeps no prepared statement for later calls. Returns 0, or -1 with err set.
 */
int db_script(struct db *db, const char *sql, struct err *err);

/*
 * Run a query. The result is at no row yet: call db_next(). Call db_rows_end() before the transaction ends. Returns NULL with
 * err set on failure.
 */
struct db_rows *db_query(struct db *db, struct err *err, const char *sql, const char *types, ...);

/* Go to the next row. Returns 1, 0 after the last row, or -1 with err set. `rows` may be NULL from a db_query() that failed. */
int db_next(struct db_rows *rows, struct err *err);

/*
 * Call `read` for each row with `ctx`, and then db_rows_end(). `read` returns 0, or -1 with err set to stop. `rows` may be NULL
 * from a db_query() that failed. Returns 0, or -1 with err set.
 */
int db_each(struct db_rows *rows, int (*read)(const struct db_rows *row, void *ctx, struct err *err), void *ctx,
	    struct err *err);

/*
 * db_int(), db_text() and db_bytes() return the value of column `column`, counted from 0, in the current row: an integer, a
 * text, or *len bytes. Text and bytes are valid until the next row. A missing text is "".
 */
int64_t db_int(const struct db_rows *rows, int column);
const char *db_text(const struct db_rows *rows, int column);
const void *db_bytes(const struct db_rows *rows, int column, size_t *len);

/* Free a query's rows. `rows` may be NULL. */
void db_rows_end(struct db_rows *rows);

/* Run a query for one number, and set *out to it. Returns 1; 0 if there is no row, with *out unchanged; or -1 with err set. */
int db_number(struct db *db, struct err *err, int64_t *out, const char *sql, const char *types, ...);

/* The mark that identifies the database as a store. Both numbers are 0 in a database without a mark. */
struct db_mark {
	int64_t application, version;
	bool empty; /* The database has no table. */
};
int db_mark_read(struct db *db, struct db_mark *out, struct err *err);

/* Write the mark that identifies the database as a store of this version. Call it in a transaction. */
int db_mark_write(struct db *db, int64_t application, int64_t version, struct err *err);

/*
 * Check that the database has exactly the tables and indexes that the first `count` scripts of `steps` make (see db_script()).
 * Anything else could run foreign code or invent rows: views, triggers, virtual tables, generated columns, foreign indexes.
 * Returns 0, or -1 with EXIT_INPUT and the first difference.
 */
int db_shape(struct db *db, const char *const *steps, int64_t count, struct err *err);

/* Prepare a store, or an empty database, for writing. Call it outside a transaction. */
int db_adopt(struct db *db, struct err *err);

/* Check the whole database for damage, which reads all of it. Returns 0, or -1 with EXIT_INPUT. */
int db_sound(struct db *db, struct err *err);

/* Returns the size of the database in bytes, or -1 with err set. */
int64_t db_size(struct db *db, struct err *err);

/* Return unused pages to the file system. Call it outside a transaction. */
int db_shrink(struct db *db, struct err *err);

#endif

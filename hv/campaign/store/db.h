/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A database, SQLite or PostgreSQL, that is asked in the part of SQL that both have. Only hv/campaign/store/ uses this header.
 *
 * Statements are string constants. Values never are a part of them: a statement has $1, $2 and so on, and the values come as
 * arguments after `types`, which has a letter for each:
 *  - i: int64_t;
 *  - t: const char *, text; NULL is written as "";
 *  - b: const void * and size_t, bytes.
 * A column is read as the type that it has. Nothing is NULL in the tables, so that there is nothing to be told apart.
 *
 * Errors are explained here, once: see store.h for what they are. No locks: one thread at a time uses a database.
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
 * Open the database `where`, as store_open() says. Whether it is a store, and which version of it, is not looked at. NULL with
 * err set: it cannot be opened.
 */
struct db *db_open(const char *where, enum db_mode mode, unsigned wait_ms, struct err *err);

/* NULL is allowed. An open transaction is given up. */
void db_close(struct db *db);

/* Where the database is, without a password. */
const char *db_where(const struct db *db);

/* From now on wait so long for others that write. */
void db_set_wait(struct db *db, unsigned wait_ms);

/*
 * Whether a server that was away can be asked again. It is called anew for this, and nobody waits for it, but where its name
 * has to be asked for. Returns 1; 0 when it has not answered yet: ask again; or -1 with err set: it is away, and the next call
 * is a new one. A database that cannot be away is there.
 */
int db_back(struct db *db, struct err *err);

/* Begin a transaction. At most one process at a time has one that writes. A server that was away is called anew. */
int db_begin(struct db *db, bool write, struct err *err);

/* End it. When this fails nothing was written, but for a server that went away at this very moment: then it is one or the
 * other. */
int db_commit(struct db *db, struct err *err);

/* Give it up. Without a transaction it does nothing. */
void db_rollback(struct db *db);

/* Run a statement that gives no rows. Returns how many rows it changed, or -1. */
int64_t db_run(struct db *db, struct err *err, const char *sql, const char *types, ...);

/*
 * The same for a statement of which nobody wants to know how many rows it changed: this need not wait for it. Where it fails,
 * that is told by one of the calls that follow, the transaction's end at last. Returns 0, or -1.
 */
int db_send(struct db *db, struct err *err, const char *sql, const char *types, ...);

/* Run statements without values, with a semicolon behind each, that are not worth keeping. The words of db_words are replaced.
 */
int db_script(struct db *db, const char *sql, struct err *err);

/*
 * Ask for rows. NULL with err set: it failed. db_rows_end() must follow, before the same statement is used again and before the
 * transaction ends. There is no row yet: call db_next().
 */
struct db_rows *db_ask(struct db *db, struct err *err, const char *sql, const char *types, ...);

/* Go to the next row. Returns 1, 0 when there is none, or -1. */
int db_next(struct db_rows *rows, struct err *err);

/*
 * Let `read` have each row, with `ctx`, and end the rows. `read` returns 0, or -1 with err set, which ends the reading. `rows`
 * may be NULL, of a db_ask() that failed. Returns 0, or -1 with err set.
 */
int db_each(struct db_rows *rows, int (*read)(const struct db_rows *row, void *ctx, struct err *err), void *ctx,
	    struct err *err);

/* Column `column`, from 0, of this row. Text and bytes are valid until the next row. Text that is not there is "". */
int64_t db_int(const struct db_rows *rows, int column);
const char *db_text(const struct db_rows *rows, int column);
const void *db_bytes(const struct db_rows *rows, int column, size_t *len);

/* NULL is allowed. */
void db_rows_end(struct db_rows *rows);

/* Ask for one number. Returns 1, 0 when there is no row and *out stays as it is, or -1. */
int db_number(struct db *db, struct err *err, int64_t *out, const char *sql, const char *types, ...);

/* What marks the database as a store. Both are 0 in a database in which nobody has marked anything. */
struct db_mark {
	int64_t application, version;
	bool empty; /* There is no table yet. */
};
int db_mark_read(struct db *db, struct db_mark *out, struct err *err);

/* Write the mark. In a transaction. */
int db_mark_write(struct db *db, int64_t application, int64_t version, struct err *err);

/* How many bytes the database takes. -1 with err set. */
int64_t db_size(struct db *db, struct err *err);

/* Give room that is not used back to the file system. Not in a transaction. */
int db_shrink(struct db *db, struct err *err);

#endif

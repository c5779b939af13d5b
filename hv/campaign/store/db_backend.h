/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a kind of database does for db.c. Only the files db*.c use this header. */
#ifndef OUTRIDER_CAMPAIGN_STORE_DB_BACKEND_H
#define OUTRIDER_CAMPAIGN_STORE_DB_BACKEND_H

#include <stdarg.h>

#include "hv/campaign/store/db.h"

#define DB_VALUES_MAX 24 /* values of one statement */

/* A value of a statement. */
struct db_value {
	char type; /* 'i', 't' or 'b' */
	int64_t number;
	const void *bytes; /* of text and bytes */
	size_t len;
};

/* A statement that was prepared, kept for the next time. */
struct db_statement {
	struct db_statement *next;
	const char *sql; /* a string constant */
	void *prepared;
	bool busy; /* its rows are being read */
};

/* The rows of a statement. A backend's own struct begins with it. */
struct db_rows {
	struct db *db;
	struct db_statement *statement;
};

struct db_backend {
	/* What stands for each word of db_words, in the same order. */
	const char *const *words;
	int (*open)(struct db *db, enum db_mode mode, unsigned wait_ms, struct err *err);
	/* Statements are given up before. */
	void (*close)(struct db *db);
	/* db_back(). NULL: the database never goes away. */
	int (*back)(struct db *db, struct err *err);
	/* db_set_wait(), where db.wait_ms alone does not do it; or NULL. */
	void (*set_wait)(struct db *db);
	int (*begin)(struct db *db, bool write, struct err *err);
	int (*end)(struct db *db, bool commit, struct err *err);
	int (*script)(struct db *db, const char *sql, struct err *err);
	int (*prepare)(struct db *db, struct db_statement *st, const char *types, struct err *err);
	void (*forget)(struct db *db, struct db_statement *st);
	/* Run a statement without waiting for it. NULL: the backend has no such thing, and ask() does it. */
	int (*send)(struct db *db, struct db_statement *st, const struct db_value *values, size_t n, struct err *err);
	/* Run a statement with `n` values. Of one without rows *changed is set. */
	struct db_rows *(*ask)(struct db *db, struct db_statement *st, const struct db_value *values, size_t n,
			       struct err *err);
	int64_t (*changed)(struct db_rows *rows);
	int (*next)(struct db_rows *rows, struct err *err);
	int64_t (*number)(const struct db_rows *rows, int column);
	const char *(*text)(const struct db_rows *rows, int column);
	const void *(*bytes)(const struct db_rows *rows, int column, size_t *len);
	void (*rows_end)(struct db_rows *rows);
	int (*mark_read)(struct db *db, struct db_mark *out, struct err *err);
	int (*mark_write)(struct db *db, int64_t application, int64_t version, struct err *err);
	int64_t (*size)(struct db *db, struct err *err);
	int (*shrink)(struct db *db, struct err *err);
};

/* Words in scripts that each backend has its own for. NULL ends the list. */
extern const char *const db_words[];

struct db {
	const struct db_backend *backend;
	char *where; /* as it was given */
	char *shown; /* without a password */
	void *handle;
	struct db_statement *statements;
	bool in_transaction;
	unsigned sent; /* statements that nobody has waited for yet */
	unsigned wait_ms;
	/* A call to a server that nobody waits for: when it began, 0 for none, and what its library waits for meanwhile. */
	uint64_t call_ns;
	int call_wants;
};

extern const struct db_backend db_sqlite, db_postgres;

/* The statement prepared, one that is not in use. NULL with err set: it could not be. */
struct db_statement *db_statement(struct db *db, const char *sql, const char *types, struct err *err);

/* Forget all prepared statements: a connection that they belonged to is gone. */
void db_forget_all(struct db *db);

#endif

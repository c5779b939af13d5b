/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the PostgreSQL backend share. Only db_postgres*.c use this header. */
#ifndef OUTRIDER_CAMPAIGN_STORE_DB_POSTGRES_H
#define OUTRIDER_CAMPAIGN_STORE_DB_POSTGRES_H

#include <libpq-fe.h>
#include <string.h>

#include "hv/campaign/store/db_backend.h"

/* What a server says has several lines. The first one is what a line has room for. */
static inline int postgres_first_line(const char *text)
{
	return (int)strcspn(text, "\n");
}

/* ---- db_postgres_answer.c ---- */

/* Whether a failure is that the server is away, or goes away. `result` may be NULL. */
bool postgres_is_away(struct db *db, const PGresult *result);

/* Explain a failure, of `result` or, with NULL, of the connection. Returns -1. */
int postgres_fail(struct db *db, const PGresult *result, struct err *err);

/* Whether the statement did what it was to do. Frees the result. Returns 0, or -1 with err set. */
int postgres_finish(struct db *db, PGresult *result, struct err *err);

/* Wait for all that was sent. Returns 0, or -1 with err set to the first failure. */
int postgres_settle(struct db *db, struct err *err);

/* Run statements without values. Returns 0, or -1 with err set. */
int postgres_script(struct db *db, const char *sql, struct err *err);

/* ---- db_postgres_call.c: the connection ---- */

/* These are the backend's functions of these names (db_backend.h). */
int postgres_open(struct db *db, enum db_mode mode, unsigned wait_ms, struct err *err);
void postgres_close(struct db *db);
int postgres_back(struct db *db, struct err *err);

/* Call the server anew when the connection is known to be gone, and wait for it. Returns 0, or -1 with err set. */
int postgres_reconnect(struct db *db, struct err *err);

#endif

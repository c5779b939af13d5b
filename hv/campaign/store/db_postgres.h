/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that the files of the PostgreSQL backend share. Only db_postgres*.c use this header. */
#ifndef OUTRIDER_CAMPAIGN_STORE_DB_POSTGRES_H
#define OUTRIDER_CAMPAIGN_STORE_DB_POSTGRES_H

#include <libpq-fe.h>
#include <string.h>

#include "hv/campaign/store/db_backend.h"

/* Returns the length of the first line of a server's message, since a message of Outrider has one line. */
static inline int postgres_first_line(const char *text)
{
	return (int)strcspn(text, "\n");
}

/* ---- db_postgres_answer.c: answers ---- */

/* Returns whether a statement failed because the server is away or shuts down. `result` may be NULL. */
bool postgres_is_away(struct db *db, const PGresult *result);

/* Set err from the failed `result` or, if that is NULL, from the connection. Returns -1. */
int postgres_fail(struct db *db, const PGresult *result, struct err *err);

/* Check that the statement succeeded, and free its result. Returns 0, or -1 with err set. */
int postgres_finish(struct db *db, PGresult *result, struct err *err);

/* Read the results of all statements that were sent. Returns 0, or -1 with err set to the first failure. */
int postgres_settle(struct db *db, struct err *err);

/* Run statements without values. Returns 0, or -1 with err set. */
int postgres_script(struct db *db, const char *sql, struct err *err);

/* ---- db_postgres_call.c: the connection ---- */

/* These functions implement the operations of the same names in db_backend.h. */
int postgres_open(struct db *db, enum db_mode mode, struct err *err);
void postgres_close(struct db *db);
int postgres_back(struct db *db, struct err *err);

/* If the connection is lost, make a new connection, and wait until it is made. Returns 0, or -1 with err set. */
int postgres_reconnect(struct db *db, struct err *err);

#endif

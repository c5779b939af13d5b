/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that the files of the SQLite backend share. Only db_sqlite*.c use this header. */
#ifndef OUTRIDER_CAMPAIGN_STORE_DB_SQLITE_H
#define OUTRIDER_CAMPAIGN_STORE_DB_SQLITE_H

#include <sqlite3.h>

#include "hv/campaign/store/db_backend.h"

/* ---- db_sqlite_fail.c ---- */

/* Set err from the last error of the connection. Returns -1. */
int sqlite_fail(struct db *db, struct err *err);

/* ---- db_sqlite_guard.c: limits ---- */

/* Set the limits of a new connection, before it reads the file. */
void sqlite_guard(struct db *db, enum db_mode mode);

/* Check that the values of the current row have sizes that Outrider writes. Returns 0, or -1 with err set. */
int sqlite_guard_row(struct db *db, sqlite3_stmt *stmt, struct err *err);

/* ---- db_sqlite_shape.c ---- */

/* These functions implement the operations of the same names in db_backend.h. */
int sqlite_shape(struct db *db, const char *const *steps, int64_t count, struct err *err);
int sqlite_sound(struct db *db, struct err *err);

#endif

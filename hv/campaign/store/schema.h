/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Versions of a store's tables. Only hv/campaign/store/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_STORE_SCHEMA_H
#define OUTRIDER_CAMPAIGN_STORE_SCHEMA_H

#include "hv/campaign/store/db.h"

/* The application_id of SQLite files that are stores: "OTRD" in ASCII. */
#define SCHEMA_APPLICATION INT64_C(0x4f545244)

/* SQL scripts that make the tables: script i leads from version i to version i + 1. */
struct schema_steps {
	const char *const *sql;
	int64_t count;
};
extern const struct schema_steps schema_steps;

/*
 * Check that an open database is a store, and bring it to the newest version in one transaction. `make`: an empty database
 * becomes a store. Without `write` nothing is changed, and an older version is an error. Returns 0, or -1 with EXIT_INPUT if
 * the database is no store, or has a version that this program cannot use.
 */
int schema_check(struct db *db, const struct schema_steps *steps, bool make, bool write, struct err *err);

#endif

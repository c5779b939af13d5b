/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The version of a store's tables. Only hv/campaign/store/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_STORE_SCHEMA_H
#define OUTRIDER_CAMPAIGN_STORE_SCHEMA_H

#include "hv/campaign/store/db.h"

/* "OTRD": marks an SQLite file as a store (application_id). */
#define SCHEMA_APPLICATION INT64_C(0x4f545244)

/* The steps from nothing to the newest version: step i leads from version i to version i + 1. */
struct schema_steps {
	const char *const *sql;
	int64_t count;
};
extern const struct schema_steps schema_steps;

/*
 * Bring an open database to the newest version in one transaction. A database without tables becomes a store if `make` is set.
 * If `write` is not set, nothing is changed, and an older version is an error. -1 with EXIT_INPUT: it is no store, or of
 * another version.
 */
int schema_check(struct db *db, const struct schema_steps *steps, bool make, bool write, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the store share. Only hv/campaign/store/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_STORE_INTERNAL_H
#define OUTRIDER_CAMPAIGN_STORE_INTERNAL_H

#include "hv/base/clock.h"
#include "hv/base/grow.h"
#include "hv/campaign/store/db.h"
#include "hv/campaign/store/store.h"
#include "hv/campaign/store/text.h"

struct store {
	struct db *db;
};

/*
 * Read consecutive columns of the current row, from `first` on. `types` has one letter for each column, and the address of
 * its variable follows: i for an int64_t or uint64_t, n for an int, t for a text, which is copied to `text`, c for the class of
 * a verdict, as store_class_of() gives it.
 */
void store_columns(const struct db_rows *rows, int first, struct store_text *text, const char *types, ...);

/*
 * Read the columns of the first row as store_columns() does, and then call db_rows_end(). `rows` may be NULL from a db_query()
 * that failed. Returns 1; 0 if there is no row, with the variables unchanged; or -1 with err set.
 */
int store_row(struct db_rows *rows, struct store_text *text, struct err *err, const char *types, ...);

/* Join the texts in the first column of all rows, with `between` between them. Otherwise like store_row(). */
int store_row_texts(struct db_rows *rows, struct store_text *text, const char *between, const char **out, struct err *err);

/*
 * Read the bytes in the first column of the first row to *out, from malloc(), and then call db_rows_end(). Returns as
 * store_row() does.
 */
int store_row_bytes(struct db_rows *rows, void **out, size_t *size, struct err *err);

/* Read the function, module, kind and file of two sides from the eight columns from `first` on. */
void store_side_columns(const struct db_rows *rows, int first, struct store_text *text, struct store_side sides[2]);

/*
 * Insert a round if there is none with its uuid. Sets *id to the round's id. Returns 1 if the round was inserted, 0 if not, or
 * -1 with err set. Call it in a transaction.
 */
int store_round_write(struct db *db, const char *uuid, const char *campaign, int64_t number, const char *plan_hash,
		      int64_t started, int64_t *id, struct err *err);

/*
 * Write the row of a run from *run, without run->id and without the members that come from the run's files. If there is already
 * a row with the run's uuid, only the columns that say how the run was started and ended are overwritten. Sets *id to the run's
 * id. Returns 0, or -1 with err set. Call it in a transaction.
 */
int store_run_write(struct db *db, const struct store_run *run, int64_t *id, struct err *err);

/* Write a run's finding. Returns 0, or -1 with err set. */
int store_finding_write(struct db *db, int64_t run, int64_t number, const struct store_finding *f, struct err *err);

/*
 * These two functions convert a number from the database: the first to a verdict's class, the second to a triage state. The
 * database is not trusted: a number that is no class gives unclear, and one that is no state gives STORE_TRIAGE_NEW.
 */
enum verdict_class store_class_of(int64_t value);
enum store_triage store_triage_of(int64_t value);

/*
 * Read the versions of the fix from the triage entry with the id `said` into *out, in the form of `mended` of struct
 * store_race. Call it in a transaction.
 */
int store_mended(struct store *s, int64_t said, struct store_text *text, const char **out, struct err *err);

/*
 * For functions that read a list. store_read_begin() begins a transaction that does not write, and makes *text, the memory for
 * the list's strings. store_read_end() ends the transaction; `rc` is the result of the reading. Both return 0, or -1 with err
 * set.
 */
int store_read_begin(struct store *s, struct store_text **text, struct err *err);
int store_read_end(struct store *s, int rc, const struct store_text *text, struct err *err);

#endif

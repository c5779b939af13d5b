/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the store share. Only hv/campaign/store/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_STORE_INTERNAL_H
#define OUTRIDER_CAMPAIGN_STORE_INTERNAL_H

#include "hv/campaign/store/db.h"
#include "hv/campaign/store/store.h"
#include "hv/campaign/store/text.h"

struct store {
	struct db *db;
};

/* Returns the time, in milliseconds since 1970 in UTC. */
int64_t store_now(void);

/*
 * Append a zeroed item of `item` bytes to a list. `list` is the address of the list's pointer, and *count grows by 1. Returns
 * the item, or NULL with err set if memory runs out.
 */
void *store_grow(void *list, size_t *count, size_t item, struct err *err);

/*
 * Read consecutive columns of the current row, from `first` on. `types` has one letter for each column, and the address of
 * its variable follows: i for an int64_t or uint64_t, n for an int, t for a text, which is copied to `text`.
 */
void store_columns(const struct db_rows *rows, int first, struct store_text *text, const char *types, ...);

/* Read the function, module, kind and file of two sides from eight columns. */
void store_side_columns(const struct db_rows *rows, int first, struct store_text *text, struct store_side sides[2]);

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
 * Begin and end the reading of a list. store_read_begin() begins a transaction that does not write, and makes *text, the memory
 * for the list's strings. store_read_end() ends the transaction; `rc` is the result of the reading. Both return 0, or -1 with
 * err set.
 */
int store_read_begin(struct store *s, struct store_text **text, struct err *err);
int store_read_end(struct store *s, int rc, const struct store_text *text, struct err *err);

#endif

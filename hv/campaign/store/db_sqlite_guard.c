// SPDX-License-Identifier: GPL-2.0-or-later
/* Limits for an untrusted file: what its schema may do, and how much memory and work it can cost to read the file. */
#include <string.h>
#include <sys/stat.h>

#include "hv/campaign/store/db_sqlite.h"

/*
 * Limit in bytes of the memory that SQLite uses in this process, for any file. The value is an estimate: several times what the
 * largest store that docs/campaigns.md describes should need.
 */
#define HEAP_MAX (INT64_C(1) << 30)

/*
 * Limit of the work of reading a store, in instructions of SQLite's virtual machine: STEPS_MIN for any store, plus
 * STEPS_PER_BYTE for each byte of the file. So a crafted file cannot keep a reader busy without end. The values are estimates,
 * chosen far above what the lists and a merge of an honest store should need.
 */
#define STEPS_MIN UINT64_C(2000000000)
#define STEPS_PER_BYTE 1000u
#define STEPS_AT_ONCE 100000 /* instructions between two calls of count_steps() */

static const struct {
	int what, most;
} limits[] = {
	{SQLITE_LIMIT_LENGTH, DB_VALUE_MAX},
	/* maximum length of a statement in bytes; the longest are the schema's scripts, with about 8 KiB */
	{SQLITE_LIMIT_SQL_LENGTH, 64 << 10},
	{SQLITE_LIMIT_COLUMN, 64}, /* the widest query has 27 columns */
	{SQLITE_LIMIT_EXPR_DEPTH, 100},
	{SQLITE_LIMIT_COMPOUND_SELECT, 8},
	{SQLITE_LIMIT_VDBE_OP, 25000},
	{SQLITE_LIMIT_FUNCTION_ARG, 8},
	{SQLITE_LIMIT_ATTACHED, 0},
	{SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1024},
	{SQLITE_LIMIT_VARIABLE_NUMBER, DB_VALUES_MAX},
	{SQLITE_LIMIT_TRIGGER_DEPTH, 0},
	{SQLITE_LIMIT_WORKER_THREADS, 0},
};

static const struct {
	int what, on;
} settings[] = {
	{SQLITE_DBCONFIG_DEFENSIVE, 1},	      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
	{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},  {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
	{SQLITE_DBCONFIG_DQS_DDL, 0},	      {SQLITE_DBCONFIG_DQS_DML, 0},
	{SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0}, {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
};

static int count_steps(void *ctx)
{
	struct db *db = ctx;

	db->steps += STEPS_AT_ONCE;
	return db->steps > db->steps_max;
}

void sqlite_guard(struct db *db, enum db_mode mode)
{
	sqlite3 *handle = db->handle;
	struct stat st = {0};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(handle, limits[i].what, limits[i].most);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		sqlite3_db_config(handle, settings[i].what, settings[i].on, NULL);
	sqlite3_hard_heap_limit64(HEAP_MAX);
	/*
	 * Set these pragmas before the file is read. The pragmas themselves do not read it. Without mmap a damaged page is an
	 * error instead of a SIGBUS.
	 */
	sqlite3_exec(handle, "PRAGMA mmap_size=0; PRAGMA cell_size_check=ON", NULL, NULL, NULL);
	/*
	 * Limit the instructions of readers only: a campaign keeps its store open for writing for days, and the number of
	 * instructions only grows.
	 */
	if (mode != DB_READ)
		return;
	stat(db->where, &st);
	db->steps = 0;
	db->steps_max = STEPS_MIN + STEPS_PER_BYTE * (uint64_t)st.st_size;
	sqlite3_progress_handler(handle, STEPS_AT_ONCE, count_steps, db);
}

int sqlite_guard_row(struct db *db, sqlite3_stmt *stmt, struct err *err)
{
	for (int i = 0, n = sqlite3_data_count(stmt); i < n; i++) {
		int type = sqlite3_column_type(stmt, i), size;

		if (type != SQLITE_TEXT && type != SQLITE_BLOB)
			continue;
		size = sqlite3_column_bytes(stmt, i);
		/*
		 * Refuse a long value in any other column than "data" of `record` and of `cover`, the only columns with bytes.
		 */
		if (size > DB_TEXT_MAX && (type == SQLITE_TEXT || strcmp(sqlite3_column_name(stmt, i), "data") != 0))
			return err_set(err, EXIT_INPUT,
				       "%s: the store is damaged: a text in it has %d bytes, and outrider writes %d at most; "
				       "take it from a backup",
				       db->shown, size, DB_TEXT_MAX);
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares the schema of a foreign file with ours. make_ours() runs the scripts that make a store, in a new database in memory.
 * Then sqlite_master of the file must have the same objects as that database, with the same SQL text apart from blanks, and no
 * other objects. Names alone would not be enough: a table with the right name can be a virtual table, which invents its rows,
 * or can have generated columns.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/db_sqlite.h"

/*
 * The statements that make the tables of ANALYZE (see db_shrink()) in different versions of SQLite. These tables only guide the
 * query planner.
 */
static const char *const statistics[] = {
	"CREATE TABLE sqlite_stat1(tbl,idx,stat)",
	"CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
};

/*
 * List the objects. Tables come before their indexes, so that an error names the table. The last column is 0 for an object
 * without a B-tree of its own: it has no root page, or shares its root page with another object.
 */
static const char objects_sql[] = "SELECT type, name, tbl_name, coalesce(sql, ''), "
				  "typeof(rootpage) = 'integer' AND rootpage > 1 AND NOT EXISTS (SELECT 1 FROM sqlite_master o "
				  "WHERE o.rootpage = m.rootpage AND o.rowid <> m.rowid) FROM sqlite_master m "
				  "ORDER BY type DESC, name, tbl_name, rowid";
enum { TYPE, NAME, TABLE, SQL, ROOT };

static const char *column(sqlite3_stmt *stmt, int i)
{
	const char *text = (const char *)sqlite3_column_text(stmt, i);

	return text ? text : "";
}

/* Returns whether two statements are the same, where any number of blanks equals one blank. */
static bool is_same_sql(const char *a, const char *b)
{
	for (;; a++, b++) {
		if (isspace((unsigned char)*a) && isspace((unsigned char)*b)) {
			while (isspace((unsigned char)a[1]))
				a++;
			while (isspace((unsigned char)b[1]))
				b++;
		} else if (*a != *b) {
			return false;
		}
		if (!*a)
			return true;
	}
}

static bool is_statistics(sqlite3_stmt *there)
{
	for (size_t i = 0; i < sizeof(statistics) / sizeof(statistics[0]); i++) {
		/* SQLite made this table, not a user: SQLite reserves all names that begin with "sqlite_". */
		if (strcmp(column(there, SQL), statistics[i]) == 0)
			return sqlite3_column_int(there, ROOT);
	}
	return false;
}

static int next(struct db *db, sqlite3_stmt *stmt, struct err *err)
{
	int rc = sqlite3_step(stmt);

	return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : sqlite_fail(db, err);
}

/* Step `there`, the list of the file's objects, to the next object that is not a table of ANALYZE. */
static int next_there(struct db *db, sqlite3_stmt *there, struct err *err)
{
	int rc;

	do
		rc = next(db, there, err);
	while (rc > 0 && is_statistics(there));
	return rc;
}

static bool is_same(sqlite3_stmt *there, sqlite3_stmt *ours)
{
	for (int i = TYPE; i <= TABLE; i++) {
		if (strcmp(column(there, i), column(ours, i)) != 0)
			return false;
	}
	return is_same_sql(column(there, SQL), column(ours, SQL)) && sqlite3_column_int(there, ROOT);
}

static int refuse(struct db *db, sqlite3_stmt *there, sqlite3_stmt *ours, struct err *err)
{
	static const char what_to_do[] = "nothing of it was read; take the store from a backup, or from its maker";
	int order = !there ? 1 : !ours ? -1 : -strcmp(column(there, TYPE), column(ours, TYPE));

	if (there && ours && !order)
		order = strcmp(column(there, NAME), column(ours, NAME));
	if (order > 0)
		return err_set(err, EXIT_INPUT, "%s: the store has no %.20s %.64s, which outrider makes: %s", db->shown,
			       column(ours, TYPE), column(ours, NAME), what_to_do);
	if (order < 0)
		return err_set(err, EXIT_INPUT, "%s: the store has the %.20s %.64s, which outrider does not make: %s",
			       db->shown, column(there, TYPE), column(there, NAME), what_to_do);
	return err_set(err, EXIT_INPUT, "%s: the store's %.20s %.64s is not as outrider makes it: %s", db->shown,
		       column(there, TYPE), column(there, NAME), what_to_do);
}

static int compare(struct db *db, sqlite3_stmt *there, sqlite3_stmt *ours, struct err *err)
{
	for (;;) {
		int have = next_there(db, there, err), want = have < 0 ? -1 : next(db, ours, err);

		if (want < 0)
			return -1;
		if (!have && !want)
			return 0;
		if (!have || !want || !is_same(there, ours))
			return refuse(db, have ? there : NULL, want ? ours : NULL, err);
	}
}

/* Set *ours to a new database in memory, in which the first `count` scripts of `steps` have made our tables and indexes. */
static int make_ours(struct db *db, sqlite3 **ours, const char *const *steps, int64_t count)
{
	int rc = sqlite3_open_v2(":memory:", ours, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY, NULL);

	for (int64_t i = 0; i < count && rc == SQLITE_OK; i++) {
		char *sql = db_with_words(db->backend, steps[i]);

		rc = sql ? sqlite3_exec(*ours, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
		free(sql);
	}
	return rc;
}

int sqlite_shape(struct db *db, const char *const *steps, int64_t count, struct err *err)
{
	sqlite3_stmt *there = NULL, *made = NULL;
	sqlite3 *ours = NULL;
	int rc = -1;

	if (make_ours(db, &ours, steps, count) != SQLITE_OK ||
	    sqlite3_prepare_v2(ours, objects_sql, -1, &made, NULL) != SQLITE_OK)
		err_set(err, EXIT_INTERNAL, "cannot make a store in memory to compare %s with: %s", db->shown,
			sqlite3_errmsg(ours));
	else if (sqlite3_prepare_v2(db->handle, objects_sql, -1, &there, NULL) != SQLITE_OK)
		sqlite_fail(db, err);
	else
		rc = compare(db, there, made, err);
	sqlite3_finalize(there);
	sqlite3_finalize(made);
	sqlite3_close(ours);
	return rc;
}

int sqlite_sound(struct db *db, struct err *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc = -1;

	if (sqlite3_prepare_v2(db->handle, "PRAGMA quick_check(1)", -1, &stmt, NULL) != SQLITE_OK || next(db, stmt, err) < 0)
		sqlite_fail(db, err);
	else if (strcmp(column(stmt, 0), "ok") != 0)
		err_set(err, EXIT_INPUT, "%s: the store is damaged: %.120s; take it from a backup", db->shown,
			column(stmt, 0) + (strncmp(column(stmt, 0), "*** in database main ***\n", 25) == 0 ? 25 : 0));
	else
		rc = 0;
	sqlite3_finalize(stmt);
	return rc;
}

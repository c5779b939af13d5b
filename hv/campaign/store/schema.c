// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Creates the tables of a store, and updates tables of older versions. The mark of a database (struct db_mark) consists of two
 * numbers, which say that the database is a store, and which version its tables have.
 */
#include "hv/campaign/store/schema.h"

#include <inttypes.h>

static const char *const steps_sql[] = {
#include "store_schema.h"
	, /* from version 1 to version 2 */
#include "store_schema_2.h"
	, /* from version 2 to version 3 */
#include "store_schema_3.h"
	, /* from version 3 to version 4 */
#include "store_schema_4.h"
	, /* from version 4 to version 5 */
#include "store_schema_5.h"
};

const struct schema_steps schema_steps = {steps_sql, sizeof(steps_sql) / sizeof(steps_sql[0])};

static int refuse(struct db *db, const struct db_mark *mark, const struct schema_steps *steps, struct err *err)
{
	if (mark->application != SCHEMA_APPLICATION && mark->empty)
		return err_set(err, EXIT_INPUT, "%s: there is no store of campaigns here yet", db_where(db));
	if (mark->application != SCHEMA_APPLICATION || mark->version < 0)
		return err_set(err, EXIT_INPUT, "%s: this database is no store of campaigns; give another place to --store",
			       db_where(db));
	if (mark->version > steps->count)
		return err_set(err, EXIT_INPUT,
			       "%s: the store has version %" PRId64 ", and this outrider knows versions up to %" PRId64
			       " only; use the outrider that made it, or a newer one",
			       db_where(db), mark->version, steps->count);
	return err_set(err, EXIT_INPUT,
		       "%s: the store has the old version %" PRId64
		       ", which can only be read once it is brought to version %" PRId64 "; run a command that writes to it",
		       db_where(db), mark->version, steps->count);
}

/* Returns whether the mark is that of a store, with a version that this program knows. */
static bool is_known(const struct db_mark *mark, const struct schema_steps *steps)
{
	return mark->application == SCHEMA_APPLICATION && mark->version >= 0 && mark->version <= steps->count;
}

static int step_up(struct db *db, const struct schema_steps *steps, bool make, struct err *err)
{
	struct db_mark mark;

	if (db_begin(db, true, err) < 0)
		return -1;
	/* Read the mark again: another process may have updated the store since look() read it. */
	if (db_mark_read(db, &mark, err) < 0)
		goto back;
	if (make && mark.empty)
		mark = (struct db_mark){.application = SCHEMA_APPLICATION};
	if (!is_known(&mark, steps)) {
		refuse(db, &mark, steps, err);
		goto back;
	}
	if (db_shape(db, steps->sql, mark.version, err) < 0)
		goto back;
	/* Write the mark before the tables: writing it makes PostgreSQL's schema, which the scripts need. */
	if (db_mark_write(db, SCHEMA_APPLICATION, steps->count, err) < 0)
		goto back;
	for (int64_t i = mark.version; i < steps->count; i++) {
		if (db_script(db, steps->sql[i], err) < 0)
			goto back;
	}
	return db_commit(db, err);
back:
	db_rollback(db);
	return -1;
}

/*
 * Read the mark, and check the tables, both in one transaction: otherwise another process could change the store between the
 * two.
 */
static int look(struct db *db, const struct schema_steps *steps, bool make, bool write, struct db_mark *mark, struct err *err)
{
	int rc = -1;

	if (db_begin(db, false, err) < 0)
		return -1;
	if (db_mark_read(db, mark, err) < 0)
		goto out;
	if (mark->empty && make)
		rc = 0;
	else if (!is_known(mark, steps) || (mark->version < steps->count && !write))
		refuse(db, mark, steps, err);
	else
		rc = db_shape(db, steps->sql, mark->version, err);
out:
	db_rollback(db);
	return rc;
}

int schema_check(struct db *db, const struct schema_steps *steps, bool make, bool write, struct err *err)
{
	struct db_mark mark;
	bool fresh;

	if (look(db, steps, make, write, &mark, err) < 0)
		return -1;
	fresh = mark.empty && make;
	if (write && db_adopt(db, err) < 0)
		return -1;
	return fresh || mark.version < steps->count ? step_up(db, steps, fresh, err) : 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/campaign/store/schema.h"

#include <inttypes.h>

static const char *const steps_sql[] = {
#include "store_schema.h"
	, /* to version 2 */
#include "store_schema_2.h"
};

const struct schema_steps schema_steps = {steps_sql, sizeof(steps_sql) / sizeof(steps_sql[0])};

static int refuse(struct db *db, const struct db_mark *mark, const struct schema_steps *steps, struct err *err)
{
	if (mark->application != SCHEMA_APPLICATION && mark->empty)
		return err_set(err, EXIT_INPUT, "%s: there is no store of campaigns here yet", db_where(db));
	if (mark->application != SCHEMA_APPLICATION)
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

static int step_up(struct db *db, const struct schema_steps *steps, bool make, struct err *err)
{
	struct db_mark mark;

	if (db_begin(db, true, err) < 0)
		return -1;
	/* Another process may have done it meanwhile. */
	if (db_mark_read(db, &mark, err) < 0)
		goto back;
	if (make && mark.empty)
		mark = (struct db_mark){.application = SCHEMA_APPLICATION};
	if (mark.application != SCHEMA_APPLICATION || mark.version > steps->count || mark.version < 0) {
		refuse(db, &mark, steps, err);
		goto back;
	}
	/* PostgreSQL's tables are in a schema that the mark makes. */
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

int schema_check(struct db *db, const struct schema_steps *steps, bool make, bool write, struct err *err)
{
	struct db_mark mark;

	if (db_mark_read(db, &mark, err) < 0)
		return -1;
	if (mark.application == SCHEMA_APPLICATION && mark.version == steps->count)
		return 0;
	if (mark.application == SCHEMA_APPLICATION && mark.version < steps->count && write)
		return step_up(db, steps, false, err);
	if (mark.empty && make)
		return step_up(db, steps, true, err);
	return refuse(db, &mark, steps, err);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps the prepared statements of a database. If a statement is needed again while it is in use, it is prepared a second time.
 */
#include <stdlib.h>

#include "hv/campaign/store/db_backend.h"

struct db_statement *db_statement(struct db *db, const char *sql, const char *types, struct err *err)
{
	struct db_statement *st;

	for (st = db->statements; st; st = st->next) {
		if (st->sql == sql && !st->busy)
			return st;
	}
	st = calloc(1, sizeof(*st));
	if (!st) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	st->sql = sql;
	if (db->backend->prepare(db, st, types, err) < 0) {
		free(st);
		return NULL;
	}
	st->next = db->statements;
	db->statements = st;
	return st;
}

void db_forget_all(struct db *db)
{
	while (db->statements) {
		struct db_statement *st = db->statements;

		db->statements = st->next;
		db->backend->forget(db, st);
		free(st);
	}
}

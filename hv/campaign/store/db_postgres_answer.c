// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the answers of a PostgreSQL server, and turns its failures into messages for users. */
#include "hv/campaign/store/db_postgres.h"

bool postgres_is_away(struct db *db, const PGresult *result)
{
	const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;

	return !state || PQstatus(db->handle) == CONNECTION_BAD || strncmp(state, "57P", 3) == 0;
}

int postgres_fail(struct db *db, const PGresult *result, struct err *err)
{
	const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
	const char *text = result ? PQresultErrorMessage(result) : PQerrorMessage(db->handle);

	if (strncmp(text, "ERROR:  ", 8) == 0 || strncmp(text, "FATAL:  ", 8) == 0)
		text += 8;
	if (postgres_is_away(db, result))
		return err_set(err, EXIT_INPUT, "%s: the store's server is away: %.*s", db->shown, postgres_first_line(text),
			       text);
	if (strcmp(state, "55P03") == 0)
		return err_set(err, EXIT_INPUT,
			       "%s: another process has locked the store for longer than %.1f s; try again later", db->shown,
			       db->wait_ms / 1000.0);
	if (strcmp(state, "53100") == 0)
		return err_set(err, EXIT_INPUT, "%s: the disk of the store's server is full; nothing was changed", db->shown);
	if (strcmp(state, "25006") == 0 || strcmp(state, "42501") == 0)
		return err_set(err, EXIT_INPUT, "%s: the store is read-only for this user; nothing was changed", db->shown);
	if (strncmp(state, "53", 2) == 0)
		return err_set(err, EXIT_INPUT, "%s: the store's server has no room for this: %.*s", db->shown,
			       postgres_first_line(text), text);
	return err_set(err, EXIT_INPUT, "%s: the store's server refuses: %.*s", db->shown, postgres_first_line(text), text);
}

int postgres_finish(struct db *db, PGresult *result, struct err *err)
{
	ExecStatusType status = PQresultStatus(result);
	int rc = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? 0 : postgres_fail(db, result, err);

	PQclear(result);
	return rc;
}

/*
 * Send a sync, read all results, and leave pipeline mode, in which libpq accepts only prepared statements. If a statement
 * fails, the server skips all later ones up to the sync.
 */
int postgres_settle(struct db *db, struct err *err)
{
	unsigned left = db->sent;
	int rc = 0;

	if (!left)
		return 0;
	db->sent = 0;
	if (!PQpipelineSync(db->handle))
		rc = postgres_fail(db, NULL, err);
	/*
	 * Read until the result of the sync, which comes last. After the result of each statement, PQgetResult() returns NULL.
	 */
	for (bool synced = false; !synced && PQstatus(db->handle) == CONNECTION_OK;) {
		PGresult *result = PQgetResult(db->handle);

		if (!result && !left--)
			break;
		synced = result && PQresultStatus(result) == PGRES_PIPELINE_SYNC;
		if (rc == 0 && result && PQresultStatus(result) == PGRES_FATAL_ERROR)
			rc = postgres_fail(db, result, err);
		PQclear(result);
	}
	if (rc == 0 && PQstatus(db->handle) != CONNECTION_OK)
		rc = postgres_fail(db, NULL, err);
	if (!PQexitPipelineMode(db->handle) && rc == 0)
		rc = postgres_fail(db, NULL, err);
	return rc;
}

int postgres_script(struct db *db, const char *sql, struct err *err)
{
	return postgres_settle(db, err) < 0 ? -1 : postgres_finish(db, PQexec(db->handle, sql), err);
}

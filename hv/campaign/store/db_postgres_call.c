// SPDX-License-Identifier: GPL-2.0-or-later
/* Connects to a PostgreSQL server, and reconnects after a loss. */
#include <poll.h>
#include <stdio.h>

#include "hv/base/clock.h"
#include "hv/campaign/store/db_postgres.h"

#define CALL_S 10 /* seconds until connecting times out */
#define TEXT(x) TEXT_OF(x)
#define TEXT_OF(x) #x

static void quiet(void *ctx, const char *message)
{
	(void)ctx;
	(void)message;
}

/* Make the settings of the session that each new connection needs. */
static int set_up(struct db *db, struct err *err)
{
	char sql[160];

	PQsetNoticeProcessor(db->handle, quiet, NULL);
	snprintf(sql, sizeof(sql), "SET search_path TO outrider; SET lock_timeout TO %u; SET client_min_messages TO warning",
		 db->wait_ms ? db->wait_ms : 1);
	return postgres_script(db, sql, err);
}

int postgres_open(struct db *db, enum db_mode mode, struct err *err)
{
	/* The parameters before dbname are defaults: libpq lets later parameters win, so the URL in dbname overrides them. */
	static const char *const keys[] = {"connect_timeout",
					   "tcp_user_timeout",
					   "keepalives_idle",
					   "application_name",
					   "dbname",
					   "client_encoding",
					   NULL};
	const char *const values[] = {TEXT(CALL_S), "30000", "30", "outrider", db->where, "UTF8", NULL};

	db->handle = PQconnectdbParams(keys, values, 1);
	if (!db->handle)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	if (PQstatus(db->handle) != CONNECTION_OK)
		return err_set(err, EXIT_INPUT, "%s: cannot reach the store's server: %.*s", db->shown,
			       postgres_first_line(PQerrorMessage(db->handle)), PQerrorMessage(db->handle));
	if (set_up(db, err) < 0)
		return -1;
	return mode == DB_READ ? postgres_script(db, "SET default_transaction_read_only TO on", err) : 0;
}

void postgres_close(struct db *db)
{
	PQfinish(db->handle);
}

/* Drop the state that belonged to the lost connection. */
static void forget_connection(struct db *db)
{
	db->sent = 0;
	db->call_ns = 0;
	db_forget_all(db);
}

int postgres_reconnect(struct db *db, struct err *err)
{
	if (PQstatus(db->handle) == CONNECTION_OK)
		return 0;
	forget_connection(db);
	PQreset(db->handle);
	if (PQstatus(db->handle) != CONNECTION_OK)
		return postgres_fail(db, NULL, err);
	return set_up(db, err);
}

/* ---- reconnect without waiting ---- */

static bool is_calling(const struct db *db)
{
	return db->call_wants == PGRES_POLLING_READING || db->call_wants == PGRES_POLLING_WRITING;
}

/* Returns whether PQresetPoll() can continue without blocking. */
static bool is_ready(const struct db *db)
{
	struct pollfd fd = {.fd = PQsocket(db->handle), .events = db->call_wants == PGRES_POLLING_READING ? POLLIN : POLLOUT};

	return fd.fd < 0 || poll(&fd, 1, 0) != 0;
}

/* Start a new connection. libpq requires the first poll to behave as if the last one had returned PGRES_POLLING_WRITING. */
static int begin_call(struct db *db, struct err *err)
{
	forget_connection(db);
	if (!PQresetStart(db->handle))
		return postgres_fail(db, NULL, err);
	db->call_ns = monotonic_ns();
	db->call_wants = PGRES_POLLING_WRITING;
	return 0;
}

int postgres_back(struct db *db, struct err *err)
{
	if (!db->call_ns && PQstatus(db->handle) == CONNECTION_OK)
		return 1;
	if (!db->call_ns && begin_call(db, err) < 0)
		return -1;
	while (is_calling(db) && is_ready(db))
		db->call_wants = PQresetPoll(db->handle);
	if (is_calling(db) && monotonic_ns() - db->call_ns < CALL_S * UINT64_C(1000000000))
		return 0;
	db->call_ns = 0;
	if (is_calling(db))
		return err_set(err, EXIT_INPUT, "%s: the store's server is away: it has not answered for %u s", db->shown,
			       CALL_S);
	if (db->call_wants != PGRES_POLLING_OK)
		return postgres_fail(db, NULL, err);
	return set_up(db, err) < 0 ? -1 : 1;
}

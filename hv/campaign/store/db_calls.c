// SPDX-License-Identifier: GPL-2.0-or-later
/* The functions of db.h. They call the functions of the store's backend, SQLite or PostgreSQL. */
#include "hv/campaign/store/db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/db_backend.h"

static bool is_server(const char *where)
{
	return strncmp(where, "postgresql://", 13) == 0 || strncmp(where, "postgres://", 11) == 0;
}

/*
 * Returns a copy of the path or URL `where` without the URL's password, from malloc(). The password is between the first colon
 * and the last @ of the host part, or in a parameter.
 */
static char *shown_place(const char *where)
{
	char *shown = strdup(where), *host, *at, *colon, *query;

	if (!shown || !is_server(where))
		return shown;
	host = strstr(shown, "://") + 3;
	/* Only a slash ends the part with password and host: libpq allows a question mark in a password, but no slash. */
	at = memrchr(host, '@', strcspn(host, "/"));
	colon = strchr(host, ':');
	if (at && colon && colon < at)
		memmove(colon, at, strlen(at) + 1);
	query = strchr(host, '?');
	if (query)
		*query = '\0';
	return shown;
}

struct db *db_open(const char *where, enum db_mode mode, unsigned wait_ms, struct err *err)
{
	struct db *db = calloc(1, sizeof(*db));

	if (db)
		*db = (struct db){.backend = is_server(where) ? &db_postgres : &db_sqlite,
				  .where = strdup(where),
				  .shown = shown_place(where),
				  .wait_ms = wait_ms};
	if (!db || !db->where || !db->shown)
		err_set(err, EXIT_INTERNAL, "out of memory");
	else if (db->backend->open(db, mode, err) == 0)
		return db;
	db_close(db);
	return NULL;
}

void db_close(struct db *db)
{
	if (!db)
		return;
	db_rollback(db);
	db_forget_all(db);
	if (db->handle)
		db->backend->close(db);
	free(db->where);
	free(db->shown);
	free(db);
}

const char *db_where(const struct db *db)
{
	return db->shown;
}

void db_set_wait(struct db *db, unsigned wait_ms)
{
	db->wait_ms = wait_ms;
	if (db->backend->set_wait)
		db->backend->set_wait(db);
}

int db_back(struct db *db, struct err *err)
{
	return db->backend->back ? db->backend->back(db, err) : 1;
}

int db_begin(struct db *db, bool write, struct err *err)
{
	if (db->backend->begin(db, write, err) < 0)
		return -1;
	db->in_transaction = true;
	return 0;
}

int db_commit(struct db *db, struct err *err)
{
	if (db->backend->end(db, true, err) < 0) {
		db_rollback(db);
		return -1;
	}
	db->in_transaction = false;
	return 0;
}

void db_rollback(struct db *db)
{
	if (db->in_transaction)
		db->backend->end(db, false, NULL);
	db->in_transaction = false;
}

int db_end(struct db *db, int rc, struct err *err)
{
	if (rc == 0)
		return db_commit(db, err);
	db_rollback(db);
	return rc;
}

/* ---- statements ---- */

static size_t take_values(struct db_value values[DB_VALUES_MAX], const char *types, va_list ap)
{
	size_t n = 0;

	for (; n < DB_VALUES_MAX && types[n]; n++) {
		struct db_value *v = &values[n];

		*v = (struct db_value){.type = types[n]};
		if (v->type == 'i') {
			v->number = va_arg(ap, int64_t);
			continue;
		}
		v->bytes = va_arg(ap, const void *);
		if (v->type == 'b')
			v->len = va_arg(ap, size_t);
		if (!v->bytes)
			v->bytes = "";
		if (v->type == 't')
			v->len = strlen(v->bytes);
	}
	return n;
}

static struct db_rows *query(struct db *db, struct err *err, const char *sql, const char *types, va_list ap)
{
	struct db_value values[DB_VALUES_MAX];
	struct db_statement *st = db_statement(db, sql, types, err);
	struct db_rows *rows;

	if (!st)
		return NULL;
	rows = db->backend->query(db, st, values, take_values(values, types, ap), err);
	if (!rows)
		return NULL;
	rows->db = db;
	rows->statement = st;
	st->busy = true;
	return rows;
}

struct db_rows *db_query(struct db *db, struct err *err, const char *sql, const char *types, ...)
{
	struct db_rows *rows;
	va_list ap;

	va_start(ap, types);
	rows = query(db, err, sql, types, ap);
	va_end(ap);
	return rows;
}

static int64_t run(struct db *db, struct err *err, const char *sql, const char *types, va_list ap)
{
	struct db_rows *rows = query(db, err, sql, types, ap);
	int64_t changed = db_next(rows, err) < 0 ? -1 : db->backend->changed(rows);

	db_rows_end(rows);
	return changed;
}

int64_t db_run(struct db *db, struct err *err, const char *sql, const char *types, ...)
{
	int64_t changed;
	va_list ap;

	va_start(ap, types);
	changed = run(db, err, sql, types, ap);
	va_end(ap);
	return changed;
}

int db_exec(struct db *db, struct err *err, const char *sql, const char *types, ...)
{
	int64_t changed;
	va_list ap;

	va_start(ap, types);
	changed = run(db, err, sql, types, ap);
	va_end(ap);
	return changed < 0 ? -1 : 0;
}

int db_send(struct db *db, struct err *err, const char *sql, const char *types, ...)
{
	struct db_value values[DB_VALUES_MAX];
	struct db_statement *st;
	va_list ap;
	size_t n;
	int rc = -1;

	va_start(ap, types);
	if (!db->backend->send) {
		rc = run(db, err, sql, types, ap) < 0 ? -1 : 0;
	} else {
		st = db_statement(db, sql, types, err);
		n = take_values(values, types, ap);
		rc = st ? db->backend->send(db, st, values, n, err) : -1;
	}
	va_end(ap);
	return rc;
}

int db_number(struct db *db, struct err *err, int64_t *out, const char *sql, const char *types, ...)
{
	struct db_rows *rows;
	va_list ap;
	int rc;

	va_start(ap, types);
	rows = query(db, err, sql, types, ap);
	va_end(ap);
	rc = db_next(rows, err);
	if (rc > 0)
		*out = db_int(rows, 0);
	db_rows_end(rows);
	return rc;
}

int db_next(struct db_rows *rows, struct err *err)
{
	return rows ? rows->db->backend->next(rows, err) : -1;
}

int db_each(struct db_rows *rows, int (*read)(const struct db_rows *row, void *ctx, struct err *err), void *ctx,
	    struct err *err)
{
	int rc = 1;

	while (rc > 0 && (rc = db_next(rows, err)) > 0) {
		if (read(rows, ctx, err) < 0)
			rc = -1;
	}
	db_rows_end(rows);
	return rc;
}

int64_t db_int(const struct db_rows *rows, int column)
{
	return rows->db->backend->number(rows, column);
}

const char *db_text(const struct db_rows *rows, int column)
{
	return rows->db->backend->text(rows, column);
}

const void *db_bytes(const struct db_rows *rows, int column, size_t *len)
{
	return rows->db->backend->bytes(rows, column, len);
}

void db_rows_end(struct db_rows *rows)
{
	if (!rows)
		return;
	rows->statement->busy = false;
	rows->db->backend->rows_end(rows);
}

/* ---- scripts ---- */

int db_script(struct db *db, const char *sql, struct err *err)
{
	char *own = db_with_words(db->backend, sql);
	int rc;

	if (!own)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	rc = db->backend->script(db, own, err);
	free(own);
	return rc;
}

int db_shape(struct db *db, const char *const *steps, int64_t count, struct err *err)
{
	return db->backend->shape ? db->backend->shape(db, steps, count, err) : 0;
}

int db_adopt(struct db *db, struct err *err)
{
	return db->backend->adopt ? db->backend->adopt(db, err) : 0;
}

int db_sound(struct db *db, struct err *err)
{
	return db->backend->sound ? db->backend->sound(db, err) : 0;
}

int db_mark_read(struct db *db, struct db_mark *out, struct err *err)
{
	return db->backend->mark_read(db, out, err);
}

int db_mark_write(struct db *db, int64_t application, int64_t version, struct err *err)
{
	return db->backend->mark_write(db, application, version, err);
}

int64_t db_size(struct db *db, struct err *err)
{
	return db->backend->size(db, err);
}

int db_shrink(struct db *db, struct err *err)
{
	return db->backend->shrink(db, err);
}

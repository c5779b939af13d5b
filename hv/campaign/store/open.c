// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens and closes a store, and has the functions that all queries of a store use, such as those that read the columns of a
 * row.
 */
#include "hv/campaign/store/store.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/internal.h"
#include "hv/campaign/store/schema.h"

struct store *store_open(const char *where, enum store_mode mode, unsigned wait_ms, struct err *err)
{
	static const enum db_mode modes[] = {[STORE_READ] = DB_READ, [STORE_WRITE] = DB_WRITE, [STORE_MAKE] = DB_MAKE};
	struct store *s = calloc(1, sizeof(*s));

	if (!s) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	s->db = db_open(where, modes[mode], wait_ms, err);
	if (s->db && schema_check(s->db, &schema_steps, mode == STORE_MAKE, mode != STORE_READ, err) == 0)
		return s;
	store_close(s);
	return NULL;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	db_close(s->db);
	free(s);
}

const char *store_where(const struct store *s)
{
	return db_where(s->db);
}

void store_set_wait(struct store *s, unsigned wait_ms)
{
	db_set_wait(s->db, wait_ms);
}

int store_is_back(struct store *s, struct err *err)
{
	return db_back(s->db, err);
}

void store_list_free(void *list, struct store_text *text)
{
	free(list);
	text_free(text);
}

static void read_columns(const struct db_rows *rows, int first, struct store_text *text, const char *types, va_list ap)
{
	for (int i = first; *types; i++, types++) {
		if (*types == 'i')
			*va_arg(ap, int64_t *) = db_int(rows, i);
		else if (*types == 'n')
			*va_arg(ap, int *) = (int)db_int(rows, i);
		else if (*types == 'c')
			*va_arg(ap, enum verdict_class *) = store_class_of(db_int(rows, i));
		else
			*va_arg(ap, const char **) = text_copy(text, db_text(rows, i));
	}
}

void store_columns(const struct db_rows *rows, int first, struct store_text *text, const char *types, ...)
{
	va_list ap;

	va_start(ap, types);
	read_columns(rows, first, text, types, ap);
	va_end(ap);
}

int store_row(struct db_rows *rows, struct store_text *text, struct err *err, const char *types, ...)
{
	int rc = db_next(rows, err);
	va_list ap;

	va_start(ap, types);
	if (rc > 0)
		read_columns(rows, 0, text, types, ap);
	va_end(ap);
	db_rows_end(rows);
	return rc;
}

int store_row_texts(struct db_rows *rows, struct store_text *text, const char *between, const char **out, struct err *err)
{
	int rc = db_next(rows, err);

	for (*out = ""; rc > 0; rc = db_next(rows, err))
		*out = text_printf(text, "%s%s%s", *out, (*out)[0] ? between : "", db_text(rows, 0));
	db_rows_end(rows);
	return rc;
}

int store_row_bytes(struct db_rows *rows, void **out, size_t *size, struct err *err)
{
	int rc = db_next(rows, err);

	if (rc > 0) {
		const void *data = db_bytes(rows, 0, size);

		*out = malloc(*size + 1);
		if (*out)
			memcpy(*out, data, *size);
		else
			rc = err_set(err, EXIT_INTERNAL, "out of memory");
	}
	db_rows_end(rows);
	return rc;
}

void store_side_columns(const struct db_rows *rows, int first, struct store_text *text, struct store_side sides[2])
{
	for (int i = 0; i < 2; i++)
		store_columns(rows, first + 4 * i, text, "tttt", &sides[i].function, &sides[i].module, &sides[i].kind,
			      &sides[i].file);
}

enum verdict_class store_class_of(int64_t value)
{
	return value >= 0 && value < STORE_CLASSES ? (enum verdict_class)value : VERDICT_UNCLEAR;
}

enum store_triage store_triage_of(int64_t value)
{
	return value >= 0 && value < STORE_TRIAGES ? (enum store_triage)value : STORE_TRIAGE_NEW;
}

int store_read_begin(struct store *s, struct store_text **text, struct err *err)
{
	*text = text_new(err);
	return *text ? db_begin(s->db, false, err) : -1;
}

int store_read_end(struct store *s, int rc, const struct store_text *text, struct err *err)
{
	db_rollback(s->db);
	return rc < 0 || text_failed(text, err) ? -1 : 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens and closes a store. */
#include "hv/campaign/store/store.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

int64_t store_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void *store_grow(void *list, size_t *count, size_t item, struct err *err)
{
	char **bytes = list;

	/* The list is full if *count is 0 or a power of two. Then double its capacity. */
	if (!(*count & (*count - 1))) {
		char *more = realloc(*bytes, (*count ? 2 * *count : 1) * item);

		if (!more) {
			err_set(err, EXIT_INTERNAL, "out of memory");
			return NULL;
		}
		*bytes = more;
	}
	return memset(*bytes + (*count)++ * item, 0, item);
}

void store_columns(const struct db_rows *rows, int first, struct store_text *text, const char *types, ...)
{
	va_list ap;

	va_start(ap, types);
	for (int i = 0; types[i]; i++) {
		if (types[i] == 'i')
			*va_arg(ap, int64_t *) = db_int(rows, first + i);
		else if (types[i] == 'n')
			*va_arg(ap, int *) = (int)db_int(rows, first + i);
		else
			*va_arg(ap, const char **) = text_copy(text, db_text(rows, first + i));
	}
	va_end(ap);
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

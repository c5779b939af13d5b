// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The store's SQL has words such as $TEXT in place of the names of column types, which differ between SQLite and PostgreSQL.
 * This file replaces the words by the names of the database in use.
 */
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/db_backend.h"

const char *const db_words[] = {"$ID", "$TEXT", "$BYTES", "$ROWLESS", NULL};

/* Write `sql` with the backend's words to `out`, unless `out` is NULL. Returns the number of bytes with the NUL. */
static size_t with_words(const struct db_backend *backend, const char *sql, char *out)
{
	size_t len = 0;

	while (*sql) {
		size_t i = 0, n = strcspn(sql + 1, "$") + 1;
		const char *piece = sql;

		while (db_words[i] && strncmp(sql, db_words[i], strlen(db_words[i])) != 0)
			i++;
		sql += db_words[i] ? strlen(db_words[i]) : n;
		if (db_words[i]) {
			piece = backend->words[i];
			n = strlen(piece);
		}
		if (out)
			memcpy(out + len, piece, n);
		len += n;
	}
	if (out)
		out[len] = '\0';
	return len + 1;
}

char *db_with_words(const struct db_backend *backend, const char *sql)
{
	char *own = malloc(with_words(backend, sql, NULL));

	if (own)
		with_words(backend, sql, own);
	return own;
}

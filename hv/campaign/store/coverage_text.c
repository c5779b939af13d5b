// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/campaign/store/coverage_text.h"

#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/compress.h"
#include "hv/campaign/store/internal.h"

bool coverage_text_next(char **text, struct coverage_text_site *out)
{
	char *end = strchr(*text, '\n'), *space = end ? memchr(*text, ' ', (size_t)(end - *text)) : NULL;
	int64_t *const numbers[] = {&out->armed, &out->hits, &out->windows, &out->conflicts, &out->talks};

	if (!space)
		return false;
	out->name = *text;
	*space++ = '\0';
	out->talks = 0;
	for (size_t i = 0; i < 5 && (i < 4 || *space == ' '); i++) {
		char *after;

		*numbers[i] = strtoll(space, &after, 10);
		if (after == space || *numbers[i] < 0)
			return false;
		space = after;
	}
	*text = end + 1;
	return true;
}

int coverage_text_add(struct db *db, char *text, int64_t kernel, int64_t runs, int64_t started, struct err *err)
{
	struct coverage_text_site site;

	while (coverage_text_next(&text, &site)) {
		int64_t first_armed = site.armed ? started : 0, first_hit = site.hits ? started : 0;

		if (db_send(db, err,
			    "INSERT INTO site (kernel_id, name, armed, hits, windows, conflicts, runs, first_armed, "
			    "first_hit) "
			    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (kernel_id, name) DO UPDATE SET "
			    "armed = site.armed + excluded.armed, hits = site.hits + excluded.hits, "
			    "windows = site.windows + excluded.windows, conflicts = site.conflicts + excluded.conflicts, "
			    "runs = site.runs + excluded.runs, "
			    "first_armed = CASE WHEN excluded.first_armed = 0 OR (site.first_armed > 0 AND site.first_armed < "
			    "excluded.first_armed) THEN site.first_armed ELSE excluded.first_armed END, "
			    "first_hit = CASE WHEN excluded.first_hit = 0 OR (site.first_hit > 0 AND site.first_hit < "
			    "excluded.first_hit) THEN site.first_hit ELSE excluded.first_hit END",
			    "itiiiiiii", kernel, site.name, site.armed, site.hits, site.windows, site.conflicts, runs,
			    first_armed, first_hit) < 0)
			return -1;
		if (site.talks &&
		    db_send(db, err,
			    "INSERT INTO talks (kernel_id, name, hits) VALUES ($1, $2, $3) ON CONFLICT (kernel_id, name) "
			    "DO UPDATE SET hits = talks.hits + excluded.hits",
			    "iti", kernel, site.name, site.talks) < 0)
			return -1;
	}
	return 0;
}

int cover_next(struct store *s, int64_t round, int64_t kernel, struct cover_row *row, struct err *err)
{
	struct db_rows *rows = db_query(
		s->db, err,
		"SELECT run_id, kernel_id, runs, data FROM cover WHERE round_id = $1 AND (run_id, kernel_id) > ($2, $3) "
		"AND ($4 = -1 OR kernel_id = $4) ORDER BY run_id, kernel_id LIMIT 1",
		"iiii", round, row->run, row->kernel, kernel);
	struct cover_row before = *row;
	int rc = db_next(rows, err);

	row->text = NULL;
	if (rc > 0) {
		size_t size;
		const void *data = db_bytes(rows, 3, &size);

		store_columns(rows, 0, NULL, "iii", &row->run, &row->kernel, &row->runs);
		/*
		 * Refuse a row that does not come after the one before. In a damaged SQLite file an id can be text, which sorts
		 * after all numbers, and the same row would come for ever.
		 */
		if (row->run < before.run || (row->run == before.run && row->kernel <= before.kernel))
			rc = err_set(err, EXIT_INPUT, "%s: the store is damaged: coverage belongs to no run", store_where(s));
		else if ((row->text = record_decompress(data, size, store_where(s), err)) == NULL)
			rc = -1;
	}
	db_rows_end(rows);
	return rc;
}

int cover_write(struct db *db, int64_t round, const struct cover_row *row, const void *data, size_t size, struct err *err)
{
	return db_exec(db, err, "INSERT INTO cover (round_id, run_id, kernel_id, runs, data) VALUES ($1, $2, $3, $4, $5)",
		       "iiiib", round, row->run, row->kernel, row->runs, data, size);
}

int coverage_text_write(struct db *db, const struct run_data_coverage *coverage, const struct run_data_run *run, int64_t kernel,
			struct err *err)
{
	size_t size;
	void *data = record_compress(coverage->text, coverage->len, &size, err);
	char *text = NULL;
	int rc = -1;

	if (!data)
		return -1;
	if (cover_write(db, run->round, &(struct cover_row){.run = run->id, .kernel = kernel, .runs = 1}, data, size, err) < 0)
		goto out;
	text = strdup(coverage->text);
	if (!text)
		err_set(err, EXIT_INTERNAL, "out of memory");
	else
		rc = coverage_text_add(db, text, kernel, 1, run->started, err);
out:
	free(text);
	free(data);
	return rc;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/campaign/store/coverage_text.h"

#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/compress.h"

bool coverage_text_next(char **text, struct coverage_text_site *out)
{
	char *end = strchr(*text, '\n'), *space = end ? memchr(*text, ' ', (size_t)(end - *text)) : NULL;
	int64_t *const numbers[] = {&out->armed, &out->hits, &out->windows, &out->conflicts};

	if (!space)
		return false;
	out->name = *text;
	*space++ = '\0';
	for (size_t i = 0; i < 4; i++) {
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
			    "INSERT INTO site (kernel_id, name, armed, hits, windows, conflicts, runs, first_armed, first_hit) "
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
	}
	return 0;
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
	if (db_run(db, err, "INSERT INTO cover (round_id, run_id, kernel_id, runs, data) VALUES ($1, $2, $3, 1, $4)", "iiib",
		   run->round, run->id, kernel, data, size) < 0)
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

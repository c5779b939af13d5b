// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts the windows at the sites of races, separately for the selected rounds and for all other rounds. */
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/compress.h"
#include "hv/campaign/store/coverage_text.h"
#include "hv/campaign/store/selection.h"

/* A site of a race in one build. Two races can have the same site. */
struct wanted {
	int64_t kernel;
	const char *name;
	size_t race; /* index in the caller's list */
	uint64_t since;
};

struct search {
	struct store *s;
	struct selection selection;
	struct store_text *text; /* owns the names */
	struct wanted *list;	 /* sorted by kernel and name once it is complete */
	size_t count;
	struct store_effort *out;
};

static int compare(int64_t kernel, const char *name, const struct wanted *w)
{
	if (kernel != w->kernel)
		return kernel < w->kernel ? -1 : 1;
	return strcmp(name, w->name);
}

static int by_site(const void *left, const void *right)
{
	const struct wanted *a = left;

	return compare(a->kernel, a->name, right);
}

/* ---- the sites of the races ---- */

static int add_site(struct search *f, size_t race, int64_t kernel, const char *name, struct err *err)
{
	struct wanted *w;

	for (size_t i = f->count; i-- > 0 && f->list[i].race == race;) {
		if (compare(kernel, name, &f->list[i]) == 0)
			return 0;
	}
	w = store_grow(&f->list, &f->count, sizeof(*w), err);
	if (!w)
		return -1;
	*w = (struct wanted){.kernel = kernel, .name = text_copy(f->text, name), .race = race};
	return 0;
}

static int find_sites(struct search *f, size_t race, struct err *err)
{
	struct db_rows *rows = db_query(f->s->db, err,
					"SELECT DISTINCT b.kernel_id, b.site0, b.site1 FROM race r JOIN build_race b ON "
					"b.race_id = r.id WHERE r.line = $1 ORDER BY b.kernel_id, b.site0, b.site1",
					"i", f->out[race].race);
	int rc = db_next(rows, err);

	for (; rc > 0; rc = db_next(rows, err)) {
		if (add_site(f, race, db_int(rows, 0), db_text(rows, 1), err) < 0 ||
		    add_site(f, race, db_int(rows, 0), db_text(rows, 2), err) < 0) {
			rc = -1;
			break;
		}
	}
	db_rows_end(rows);
	return rc;
}

/* ---- windows in the selected rounds ---- */

static struct wanted *find(const struct search *f, int64_t kernel, const char *name)
{
	size_t low = 0, high = f->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(kernel, name, &f->list[middle]) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < f->count && compare(kernel, name, &f->list[low]) == 0 ? &f->list[low] : NULL;
}

static void add_coverage(struct search *f, int64_t kernel, char *text)
{
	struct coverage_text_site site;

	while (coverage_text_next(&text, &site)) {
		struct wanted *w = find(f, kernel, site.name), *end = f->list + f->count;

		for (; w && w < end && compare(kernel, site.name, w) == 0; w++)
			w->since += (uint64_t)site.windows;
	}
}

/*
 * Add the row of a round's coverage that follows the row of the run *run and kernel *kernel. Set *run and *kernel to the added
 * row's run and kernel. Each query reads only one row, because libpq holds the whole result in memory. Returns 1, 0 after the
 * last row, or -1.
 */
static int add_next(struct search *f, int64_t round, int64_t *run, int64_t *kernel, struct err *err)
{
	struct db_rows *rows =
		db_query(f->s->db, err,
			 "SELECT run_id, kernel_id, data FROM cover WHERE round_id = $1 AND (run_id, kernel_id) > "
			 "($2, $3) ORDER BY run_id, kernel_id LIMIT 1",
			 "iii", round, *run, *kernel);
	int rc = db_next(rows, err);

	if (rc > 0) {
		int64_t next_run = db_int(rows, 0), next_kernel = db_int(rows, 1);
		size_t size;
		const void *data = db_bytes(rows, 2, &size);
		char *text = record_decompress(data, size, store_where(f->s), err);

		/* In a damaged file an id can be text, which sorts after all numbers: the same row would come for ever. */
		if (text && (next_run < *run || (next_run == *run && next_kernel <= *kernel)))
			rc = err_set(err, EXIT_INPUT, "%s: the store is damaged: coverage belongs to no run",
				     store_where(f->s));
		else if (text)
			add_coverage(f, next_kernel, text);
		else
			rc = -1;
		free(text);
		*run = next_run;
		*kernel = next_kernel;
	}
	db_rows_end(rows);
	return rc;
}

static int add_rounds(struct search *f, struct err *err)
{
	for (size_t i = 0; i < f->selection.count; i++) {
		int64_t run = -1, kernel = -1;
		int rc = f->selection.list[i].now;

		while (rc > 0)
			rc = add_next(f, f->selection.list[i].id, &run, &kernel, err);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* ---- sums ---- */

static int add_totals(struct search *f, struct err *err)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct wanted *w = &f->list[i];
		struct store_effort *e = &f->out[w->race];
		int64_t total = 0;

		if (db_number(f->s->db, err, &total, "SELECT windows FROM site WHERE kernel_id = $1 AND name = $2", "it",
			      w->kernel, w->name) < 0)
			return -1;
		e->since += w->since;
		e->before += total > 0 && (uint64_t)total > w->since ? (uint64_t)total - w->since : 0;
	}
	return 0;
}

static int search(struct search *f, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		f->out[i].before = f->out[i].since = 0;
		if (find_sites(f, i, err) < 0)
			return -1;
	}
	if (!f->count)
		return 0;
	qsort(f->list, f->count, sizeof(*f->list), by_site);
	return add_rounds(f, err) < 0 ? -1 : add_totals(f, err);
}

int store_efforts(struct store *s, const struct store_races_query *q, struct store_effort *list, size_t count, struct err *err)
{
	struct search f = {.s = s, .out = list};
	int rc = store_read_begin(s, &f.text, err);

	if (rc == 0)
		rc = selection_init(&f.selection, s, q, f.text, err);
	if (rc == 0)
		rc = search(&f, count, err);
	selection_free(&f.selection);
	rc = store_read_end(s, rc, f.text, err);
	free(f.list);
	text_free(f.text);
	return rc;
}

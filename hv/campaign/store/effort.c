// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts the windows at the sites of races, separately for the selected rounds and for all other rounds. */
#include <stdlib.h>
#include <string.h>

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
	struct wanted *list;	 /* the wanted sites; sorted by kernel and name, once the list is complete */
	size_t count;
	struct store_effort *out;
	size_t race; /* index of the race whose sites are looked for */
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

static int add_site(struct search *f, int64_t kernel, const char *name, struct err *err)
{
	struct wanted *w;

	for (size_t i = f->count; i-- > 0 && f->list[i].race == f->race;) {
		if (compare(kernel, name, &f->list[i]) == 0)
			return 0;
	}
	w = list_grow(&f->list, &f->count, sizeof(*w), err);
	if (!w)
		return -1;
	*w = (struct wanted){.kernel = kernel, .name = text_copy(f->text, name), .race = f->race};
	return 0;
}

static int add_sites(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct search *f = ctx;

	if (add_site(f, db_int(rows, 0), db_text(rows, 1), err) < 0)
		return -1;
	return add_site(f, db_int(rows, 0), db_text(rows, 2), err);
}

/* Find the sites of the race f->race. */
static int find_sites(struct search *f, struct err *err)
{
	return db_each(
		db_query(f->s->db, err,
			 "SELECT DISTINCT b.kernel_id, b.site0, b.site1 FROM race r JOIN build_race b ON b.race_id = r.id "
			 "WHERE r.line = $1 ORDER BY b.kernel_id, b.site0, b.site1",
			 "i", f->out[f->race].race),
		add_sites, f, err);
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

static int add_rounds(struct search *f, struct err *err)
{
	for (size_t i = 0; i < f->selection.count; i++) {
		const struct selection_round *r = &f->selection.list[i];
		struct cover_row row = COVER_START;
		int rc = 0;

		while (r->now && (rc = cover_next(f->s, r->id, COVER_ANY, &row, err)) > 0) {
			add_coverage(f, row.kernel, row.text);
			free(row.text);
		}
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
		f->race = i;
		if (find_sites(f, err) < 0)
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

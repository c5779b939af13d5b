// SPDX-License-Identifier: GPL-2.0-or-later
/* What old rounds have in detail, folded into sums. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/cover.h"
#include "hv/campaign/store/internal.h"
#include "hv/campaign/store/squeeze.h"

/* ---- which rounds ---- */

/* The rounds are in the order of their starts. */
static unsigned newer(const struct store_rounds *rounds, size_t i)
{
	unsigned count = 0;

	for (size_t k = i + 1; k < rounds->count; k++)
		count += strcmp(rounds->list[k].campaign, rounds->list[i].campaign) == 0;
	return count;
}

static bool is_old(const struct store_rounds *rounds, size_t i, const struct store_gc_plan *plan)
{
	const struct store_round *r = &rounds->list[i];
	unsigned keep = plan->keep_rounds ? plan->keep_rounds : 1;

	return r->ended && newer(rounds, i) >= keep && (!plan->before || r->started < plan->before);
}

/* ---- single observations ---- */

/* The sightings in a round of races of which somebody has said something, and not taken it back. */
#define TOLD                                                                                                             \
	"(SELECT g.id FROM sighting g JOIN build_race b ON b.id = g.build_race_id JOIN race r ON r.id = b.race_id "      \
	"WHERE g.round_id = $1 AND coalesce((SELECT t.state FROM said t JOIN race o ON o.id = t.race_id WHERE o.line = " \
	"r.line "                                                                                                        \
	"ORDER BY t.at DESC, t.state DESC, t.who DESC, t.note DESC LIMIT 1), 0) <> 0)"

static int fold_instances(struct store *s, int64_t round, bool dry_run, uint64_t *count, struct err *err)
{
	int64_t there = 0;

	if (db_number(s->db, err, &there, "SELECT count(*) FROM instance WHERE sighting_id IN " TOLD, "i", round) < 0)
		return -1;
	*count = (uint64_t)there;
	if (dry_run || !there)
		return 0;
	return db_run(s->db, err, "DELETE FROM instance WHERE sighting_id IN " TOLD, "i", round) < 0 ? -1 : 0;
}

/* ---- coverage ---- */

/* The coverage of several runs: the texts, which the names of the sites point into, and the sites. */
struct pile {
	char **texts;
	struct cover_site *sites;
	size_t text_count, site_count;
	int64_t runs;
};

static void pile_free(struct pile *p)
{
	for (size_t i = 0; i < p->text_count; i++)
		free(p->texts[i]);
	free(p->texts);
	free(p->sites);
	*p = (struct pile){0};
}

static int pile_add(struct pile *p, char *text, struct err *err)
{
	char **kept = store_grow(&p->texts, &p->text_count, sizeof(*kept), err);
	struct cover_site site;

	if (!kept) {
		free(text);
		return -1;
	}
	*kept = text;
	while (cover_next(&text, &site)) {
		struct cover_site *to = store_grow(&p->sites, &p->site_count, sizeof(*to), err);

		if (!to)
			return -1;
		*to = site;
	}
	return 0;
}

static int by_name(const void *left, const void *right)
{
	const struct cover_site *a = left, *b = right;

	return strcmp(a->name, b->name);
}

/* One text with each site once. */
static char *pile_text(struct pile *p, size_t *len, struct err *err)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	if (p->site_count)
		qsort(p->sites, p->site_count, sizeof(*p->sites), by_name);
	for (size_t i = 0, end; out && i < p->site_count; i = end) {
		struct cover_site sum = p->sites[i];

		for (end = i + 1; end < p->site_count && by_name(&sum, &p->sites[end]) == 0; end++) {
			sum.armed += p->sites[end].armed;
			sum.hits += p->sites[end].hits;
			sum.windows += p->sites[end].windows;
			sum.conflicts += p->sites[end].conflicts;
		}
		fprintf(out, "%s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", sum.name, sum.armed, sum.hits, sum.windows,
			sum.conflicts);
	}
	if (out && fclose(out) == 0)
		return text;
	err_set(err, EXIT_INTERNAL, "out of memory");
	free(text);
	return NULL;
}

static int read_pile(struct store *s, int64_t round, int64_t kernel, struct pile *p, struct err *err)
{
	struct db_rows *rows =
		db_ask(s->db, err, "SELECT runs, data FROM cover WHERE round_id = $1 AND kernel_id = $2 ORDER BY run_id", "ii",
		       round, kernel);
	int rc = rows ? db_next(rows, err) : -1;

	for (; rc > 0; rc = db_next(rows, err)) {
		size_t size;
		const void *data = db_bytes(rows, 1, &size);
		char *text = unsqueeze(data, size, store_where(s), err);

		if (!text || pile_add(p, text, err) < 0) {
			rc = -1;
			break;
		}
		p->runs += db_int(rows, 0);
	}
	db_rows_end(rows);
	return rc;
}

static int write_pile(struct store *s, int64_t round, int64_t kernel, struct pile *p, struct err *err)
{
	size_t len, size;
	char *text = pile_text(p, &len, err);
	void *data = text ? squeeze(text, len, &size, err) : NULL;
	int rc = -1;

	if (data && db_run(s->db, err, "DELETE FROM cover WHERE round_id = $1 AND kernel_id = $2", "ii", round, kernel) >= 0 &&
	    db_run(s->db, err, "INSERT INTO cover (round_id, run_id, kernel_id, runs, data) VALUES ($1, 0, $2, $3, $4)", "iiib",
		   round, kernel, p->runs, data, size) >= 0)
		rc = 0;
	free(text);
	free(data);
	return rc;
}

static int fold_kernel(struct store *s, int64_t round, int64_t kernel, struct err *err)
{
	struct pile p = {0};
	int rc = read_pile(s, round, kernel, &p, err);

	if (rc == 0)
		rc = write_pile(s, round, kernel, &p, err);
	pile_free(&p);
	return rc;
}

/* One kernel after the other; those of which a run is not folded yet. */
static int fold_coverage(struct store *s, int64_t round, bool dry_run, uint64_t *count, struct err *err)
{
	int64_t there = 0, kernel = -1;
	int rc;

	if (db_number(s->db, err, &there, "SELECT count(*) FROM cover WHERE round_id = $1 AND run_id <> 0", "i", round) < 0)
		return -1;
	*count = (uint64_t)there;
	if (dry_run)
		return 0;
	do {
		rc = db_number(s->db, err, &kernel,
			       "SELECT kernel_id FROM cover WHERE round_id = $1 AND run_id <> 0 ORDER BY kernel_id LIMIT 1",
			       "i", round);
	} while (rc > 0 && (rc = fold_kernel(s, round, kernel, err)) == 0);
	return rc;
}

/* ---- all of it ---- */

static int fold_round(struct store *s, const struct store_round *r, bool dry_run, struct store_freed *out, struct err *err)
{
	uint64_t instances = 0, coverage = 0;
	int rc = db_begin(s->db, !dry_run, err);

	if (rc < 0)
		return -1;
	rc = fold_instances(s, r->id, dry_run, &instances, err);
	if (rc == 0)
		rc = fold_coverage(s, r->id, dry_run, &coverage, err);
	if (rc == 0 && !dry_run)
		rc = db_commit(s->db, err);
	else
		db_rollback(s->db);
	if (rc < 0)
		return -1;
	out->rounds += instances || coverage;
	out->instances += instances;
	out->coverage += coverage;
	return 0;
}

int store_gc(struct store *s, const struct store_gc_plan *plan, struct store_freed *out, struct err *err)
{
	struct store_rounds rounds;
	int64_t before = db_size(s->db, err), after = before;
	int rc = 0;

	*out = (struct store_freed){0};
	if (before < 0 || store_rounds(s, &(struct store_rounds_query){0}, &rounds, err) < 0)
		return -1;
	for (size_t i = 0; i < rounds.count && rc == 0; i++) {
		if (is_old(&rounds, i, plan))
			rc = fold_round(s, &rounds.list[i], plan->dry_run, out, err);
	}
	store_rounds_free(&rounds);
	if (rc == 0 && !plan->dry_run && out->rounds) {
		rc = db_shrink(s->db, err);
		after = rc == 0 ? db_size(s->db, err) : -1;
	}
	out->bytes = before - after;
	return rc < 0 || after < 0 ? -1 : 0;
}

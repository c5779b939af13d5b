// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads and counts coverage: sums for each site, pairs of sites that raced, and coverage over time. A run saw a pair if its
 * report has a race of these two sites.
 */
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/internal.h"

/*
 * Number of sites that one query reads. A kernel can have a million sites, and libpq holds the whole result of a query in
 * memory.
 */
#define PAGE 20000

/* ---- sites ---- */

/*
 * Pass one page of sites, those whose names follow *after, to `each`, and set *after to the last name. Returns the number of
 * sites, or -1. Sets *stop to the last return value of `each`.
 */
static int64_t sites_page(struct store *s, const char *build_id, const char **after, struct store_text *text,
			  int (*each)(void *ctx, const struct store_site *site), void *ctx, int *stop, struct err *err)
{
	struct db_rows *rows = db_query(
		s->db, err,
		"SELECT x.name, x.armed, x.hits, x.windows, x.conflicts, coalesce(t.hits, 0), x.runs FROM site x LEFT JOIN "
		"talks t "
		"ON t.kernel_id = x.kernel_id AND t.name = x.name WHERE x.kernel_id = (SELECT min(k.id) FROM kernel k WHERE "
		"k.build_id = $1) AND x.name > $2 ORDER BY x.name LIMIT $3",
		"tti", build_id, *after, (int64_t)PAGE);
	int64_t count = 0;
	int rc = db_next(rows, err);

	for (; rc > 0 && !*stop; rc = db_next(rows, err), count++) {
		struct store_site site = {.name = db_text(rows, 0)};

		store_columns(rows, 1, NULL, "iiiiii", &site.armed, &site.hits, &site.windows, &site.conflicts, &site.talks,
			      &site.runs);
		/*
		 * Refuse an answer whose last row has a blob instead of a name. SQLite sorts a blob after all text, so each
		 * further query would have the same answer.
		 */
		if (count == PAGE - 1 && strcmp(site.name, *after) <= 0) {
			rc = err_set(err, EXIT_INPUT, "%s: the store is damaged: a site has no name", store_where(s));
			break;
		}
		if (count == PAGE - 1)
			*after = text_copy(text, site.name);
		*stop = each(ctx, &site);
	}
	db_rows_end(rows);
	return rc < 0 ? -1 : count;
}

int store_sites(struct store *s, const char *build_id, int (*each)(void *ctx, const struct store_site *site), void *ctx,
		struct err *err)
{
	struct store_text *text = text_new(err);
	const char *after = "";
	int64_t count = PAGE;
	int stop = 0;

	if (!text || db_begin(s->db, false, err) < 0) {
		text_free(text);
		return -1;
	}
	while (count == PAGE && !stop && !text_failed(text, err))
		count = sites_page(s, build_id, &after, text, each, ctx, &stop, err);
	db_rollback(s->db);
	if (text_failed(text, err))
		count = -1;
	text_free(text);
	return count < 0 ? -1 : stop;
}

/* ---- pairs: all rows of build_race with sites; an atomicity suspicion has none ---- */

/* Count the pairs of sites that exactly one run saw, the pairs that exactly two runs saw, and all pairs. */
static const char pairs_sql[] =
	"SELECT count(*), coalesce(sum(CASE WHEN p.runs = 1 THEN 1 ELSE 0 END), 0), "
	"coalesce(sum(CASE WHEN p.runs = 2 THEN 1 ELSE 0 END), 0), coalesce(sum(p.seen), 0) FROM (SELECT b.kernel_id, "
	"b.report, "
	"count(DISTINCT g.run_id) AS runs, sum(g.seen) AS seen FROM build_race b JOIN sighting g ON g.build_race_id = b.id "
	"JOIN run u ON u.id = g.run_id JOIN kernel k ON k.id = b.kernel_id WHERE ($1 = '' OR k.build_id = $1) "
	"AND ($2 = 0 OR u.started <= $2) AND b.site0 <> '' GROUP BY b.kernel_id, b.report) p";

int store_pairs(struct store *s, const char *build_id, int64_t until, struct store_pairs *out, struct err *err)
{
	static const char runs_sql[] =
		"SELECT count(*) FROM run u LEFT JOIN kernel k ON k.id = u.kernel_id WHERE u.sampled_ns > 0 AND "
		"($1 = '' OR k.build_id = $1) AND ($2 = 0 OR u.started <= $2)";
	int rc;

	*out = (struct store_pairs){0};
	if (db_begin(s->db, false, err) < 0)
		return -1;
	rc = store_row(db_query(s->db, err, runs_sql, "ti", build_id, until), NULL, err, "i", &out->runs);
	if (rc >= 0)
		rc = store_row(db_query(s->db, err, pairs_sql, "ti", build_id, until), NULL, err, "iiii", &out->observed,
			       &out->once, &out->twice, &out->observations);
	db_rollback(s->db);
	return rc < 0 ? -1 : 0;
}

int store_each_pair(struct store *s, const char *build_id, int (*each)(void *ctx, const struct store_pair *pair), void *ctx,
		    struct err *err)
{
	struct db_rows *rows = NULL;
	int rc = db_begin(s->db, false, err), stop = 0;

	if (rc < 0)
		return -1;
	rows = db_query(
		s->db, err,
		"SELECT b.site0, b.site1, count(DISTINCT g.run_id) FROM build_race b JOIN sighting g ON g.build_race_id = b.id "
		"JOIN kernel k ON k.id = b.kernel_id WHERE k.build_id = $1 AND b.site0 <> '' GROUP BY b.site0, b.site1",
		"t", build_id);
	rc = db_next(rows, err);
	for (; rc > 0 && !stop; rc = db_next(rows, err)) {
		const struct store_pair pair = {{db_text(rows, 0), db_text(rows, 1)}, (uint64_t)db_int(rows, 2)};

		stop = each(ctx, &pair);
	}
	db_rows_end(rows);
	db_rollback(s->db);
	return rc < 0 ? -1 : stop;
}

/* ---- over time ---- */

void store_coverage_free(struct store_coverage *c)
{
	free(c->list);
	*c = (struct store_coverage){0};
}

/* One step of a number over time: it grew by `count` at the time `at` (milliseconds since 1970). */
struct step {
	int64_t at;
	uint64_t count;
};

struct steps {
	struct step *list;
	size_t count;
};

static int add_step(struct steps *steps, int64_t at, uint64_t count, struct err *err)
{
	struct step *step = list_grow(&steps->list, &steps->count, sizeof(*step), err);

	if (!step)
		return -1;
	*step = (struct step){at, count};
	return 0;
}

enum { ARMED, HIT, FIRST, SECOND, THIRD, RACES, SERIES };

/*
 * Group the sites of a campaign's kernels by their times of first arming and of first hit, and count each group. A campaign can
 * have millions of sites: one pass fills the series ARMED and HIT, and only the groups, which are far fewer, are sorted.
 */
static const char sites_sql[] =
	"SELECT x.first_armed, x.first_hit, count(*) FROM site x WHERE x.kernel_id IN (SELECT DISTINCT u.kernel_id FROM run u "
	"JOIN round w ON w.id = u.round_id WHERE w.campaign = $1) GROUP BY x.first_armed, x.first_hit";

static int add_sites(const struct db_rows *rows, void *ctx, struct err *err)
{
	int64_t armed = db_int(rows, 0), hit = db_int(rows, 1);
	uint64_t count = (uint64_t)db_int(rows, 2);
	struct steps *series = ctx;

	if (armed > 0 && add_step(&series[ARMED], armed, count, err) < 0)
		return -1;
	return hit > 0 ? add_step(&series[HIT], hit, count, err) : 0;
}

/* Fill in the series ARMED and HIT. */
static int read_sites(struct store *s, const char *campaign, struct steps series[SERIES], struct err *err)
{
	return db_each(db_query(s->db, err, sites_sql, "t", campaign), add_sites, series, err);
}

/*
 * A pair of sites that raced. `id`: the id of the pair's row in build_race. `race`: the id of the race under which the store
 * shows the pair. `at`: the start times of the first three runs that saw the pair, in order.
 */
struct pair {
	int64_t id, race, at[3];
	unsigned count;
};

/* Insert the time `at` in order if it is one of the pair's first three times. */
static void pair_add(struct pair *p, int64_t at)
{
	unsigned i = p->count;

	if (i == 3 && p->at[2] <= at)
		return;
	if (i == 3)
		i = 2;
	else
		p->count++;
	for (; i && p->at[i - 1] > at; i--)
		p->at[i] = p->at[i - 1];
	p->at[i] = at;
}

/*
 * Select the sightings of all pairs: a row of `sighting` says that one run saw one pair. All sightings of a pair are in
 * consecutive rows. ORDER BY follows the index, so that the database need not sort all sightings, and memory holds one struct
 * pair for each pair.
 */
static const char pairs_seen_sql[] =
	/* CROSS JOIN makes SQLite join in this order: it reads the pairs, and finds the sightings of each pair by an index. */
	"SELECT b.id, r.line, u.started FROM build_race b CROSS JOIN race r CROSS JOIN sighting g CROSS JOIN run u "
	"CROSS JOIN round w WHERE r.id = b.race_id AND g.build_race_id = b.id AND u.id = g.run_id AND w.id = u.round_id "
	"AND w.campaign = $1 AND b.site0 <> '' ORDER BY b.id";

struct pairs {
	struct pair *list;
	size_t count;
};

static int add_sighting(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct pairs *pairs = ctx;
	struct pair *p = pairs->count ? &pairs->list[pairs->count - 1] : NULL;

	if (!p || p->id != db_int(rows, 0)) {
		p = list_grow(&pairs->list, &pairs->count, sizeof(*p), err);
		if (!p)
			return -1;
		store_columns(rows, 0, NULL, "ii", &p->id, &p->race);
	}
	pair_add(p, db_int(rows, 2));
	return 0;
}

static int by_race(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;

	if (a->race != b->race)
		return a->race < b->race ? -1 : 1;
	return a->at[0] < b->at[0] ? -1 : a->at[0] > b->at[0];
}

static int by_time(const void *left, const void *right)
{
	const struct step *a = left, *b = right;

	return a->at < b->at ? -1 : a->at > b->at;
}

/*
 * Fill in the series FIRST, SECOND and THIRD, the start times of the first, second and third run that saw each pair, and RACES,
 * the times when each race was first seen.
 */
static int read_seen(struct store *s, const char *campaign, struct steps series[SERIES], struct err *err)
{
	struct pairs pairs = {0};
	int rc = db_each(db_query(s->db, err, pairs_seen_sql, "t", campaign), add_sighting, &pairs, err);

	if (rc == 0 && pairs.count)
		qsort(pairs.list, pairs.count, sizeof(*pairs.list), by_race);
	for (size_t i = 0; i < pairs.count && rc == 0; i++) {
		const struct pair *p = &pairs.list[i];

		for (unsigned k = 0; k < p->count && rc == 0; k++)
			rc = add_step(&series[FIRST + (int)k], p->at[k], 1, err);
		if (rc == 0 && (!i || p->race != p[-1].race))
			rc = add_step(&series[RACES], p->at[0], 1, err);
	}
	free(pairs.list);
	return rc;
}

/*
 * Returns the sum of all steps up to the time `until` (ms since 1970). *at is the index of the next step, and *sum the sum of
 * the steps before it. The caller sets both to 0, and then calls reach() with increasing `until`; each call continues from *at.
 */
static uint64_t reach(const struct steps *steps, size_t *at, uint64_t *sum, int64_t until)
{
	for (; *at < steps->count && steps->list[*at].at <= until; (*at)++)
		*sum += steps->list[*at].count;
	return *sum;
}

/*
 * The runs of a campaign while they are read, and the build ids of their kernels. A campaign has few kernels, so build_number()
 * compares them one by one.
 */
struct points {
	struct store_coverage *out;
	struct store_text *text;
	const char **ids;
};

static int build_number(struct points *p, const char *id, size_t *number, struct err *err)
{
	const char **place;

	for (*number = 0; *number < p->out->builds; (*number)++) {
		if (strcmp(p->ids[*number], id) == 0)
			return 0;
	}
	place = list_grow(&p->ids, &p->out->builds, sizeof(*place), err);
	if (!place)
		return -1;
	*place = text_copy(p->text, id);
	return text_failed(p->text, err) ? -1 : 0;
}

static const char points_sql[] =
	"SELECT u.id, u.round_id, u.ended, w.number, u.sampled_ns, u.pool, u.started, coalesce(k.build_id, '') FROM run u JOIN "
	"round w "
	"ON w.id = u.round_id LEFT JOIN kernel k ON k.id = u.kernel_id WHERE w.campaign = $1 AND u.state = 1 AND ($2 = 0 OR "
	"(w.started, w.uuid) <= (SELECT l.started, l.uuid FROM round l WHERE l.id = $2)) ORDER BY u.started, u.uuid";

static int add_point(const struct db_rows *rows, void *ctx, struct err *err)
{
	struct points *p = ctx;
	struct store_covered *c = list_grow(&p->out->list, &p->out->count, sizeof(*c), err);

	if (!c || build_number(p, db_text(rows, 7), &c->build, err) < 0)
		return -1;
	store_columns(rows, 0, NULL, "iiiiiii", &c->run, &c->round, &c->ended, &c->number, &c->sampled_ns, &c->pool,
		      &c->started);
	c->sampled_ns += p->out->count > 1 ? c[-1].sampled_ns : 0;
	return 0;
}

static int read_points(struct store *s, const char *campaign, int64_t until, struct store_coverage *out, struct err *err)
{
	struct points p = {.out = out, .text = text_new(err)};
	int rc = -1;

	if (p.text)
		rc = db_each(db_query(s->db, err, points_sql, "ti", campaign, until), add_point, &p, err);
	store_list_free(p.ids, p.text);
	return rc;
}

static void fill(struct store_coverage *out, const struct steps series[SERIES])
{
	size_t at[SERIES] = {0};
	uint64_t sum[SERIES] = {0};

	for (int k = 0; k < SERIES; k++) {
		if (series[k].count)
			qsort(series[k].list, series[k].count, sizeof(struct step), by_time);
	}
	for (size_t i = 0; i < out->count; i++) {
		struct store_covered *c = &out->list[i];

		for (int k = 0; k < SERIES; k++)
			reach(&series[k], &at[k], &sum[k], c->started);
		c->sites_armed = sum[ARMED];
		c->sites_hit = sum[HIT];
		c->pairs = sum[FIRST];
		c->once = sum[FIRST] - sum[SECOND];
		c->twice = sum[SECOND] - sum[THIRD];
		c->races = sum[RACES];
	}
}

int store_coverage(struct store *s, const char *campaign, int64_t until, struct store_coverage *out, struct err *err)
{
	struct steps series[SERIES] = {{0}};
	int rc;

	*out = (struct store_coverage){0};
	if (db_begin(s->db, false, err) < 0)
		return -1;
	rc = read_points(s, campaign, until, out, err);
	if (rc == 0)
		rc = read_sites(s, campaign, series, err);
	if (rc == 0)
		rc = read_seen(s, campaign, series, err);
	db_rollback(s->db);
	if (rc == 0)
		fill(out, series);
	else
		store_coverage_free(out);
	for (int k = 0; k < SERIES; k++)
		free(series[k].list);
	return rc;
}

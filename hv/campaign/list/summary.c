// SPDX-License-Identifier: GPL-2.0-or-later
/* A round summary: what one or several rounds of a campaign found, compared with earlier rounds. */
#include "hv/campaign/list/summary.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/base/grow.h"
#include "hv/race/race.h"

void summary_free(struct summary *m)
{
	for (size_t i = 0; i < m->race_count; i++)
		free(m->races[i].builds);
	for (size_t i = 0; i < m->texts.count; i++)
		free(m->texts.list[i]);
	free(m->texts.list);
	for (size_t i = 0; i < m->bug_count; i++)
		race_free(m->bugs[i].record);
	free(m->bugs);
	free(m->races);
	free(m->findings);
	free(m->rounds);
	free(m->points);
	memset(m, 0, sizeof(*m));
}

/* ---- text ---- */

/* Make `m` the owner of a string from malloc(). `text` is NULL if memory ran out. Returns the string, or NULL with err set. */
static const char *own(struct summary *m, char *text, struct err *err)
{
	char **place = text ? list_grow(&m->texts.list, &m->texts.count, sizeof(*place), err) : NULL;

	if (place)
		return *place = text;
	free(text);
	err_set(err, EXIT_INTERNAL, "out of memory");
	return NULL;
}

const char *summary_text(struct summary *m, const char *text, struct err *err)
{
	return own(m, clean_copy(text ? text : "", text ? strlen(text) : 0), err);
}

const char *summary_line(struct summary *m, const char *text, struct err *err)
{
	char line[CLEAN_FIELD_MAX];

	strncpy(line, text ? text : "", sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	clean_line(line, sizeof(line));
	return own(m, strdup(line), err);
}

/* ---- order ---- */

static int by_side(const struct summary_race *a, const struct summary_race *b)
{
	int rc = strcmp(a->side[0], b->side[0]);

	if (rc == 0)
		rc = strcmp(a->side[1], b->side[1]);
	return rc ? rc : strcmp(a->id, b->id);
}

static int compare(const void *x, const void *y)
{
	const struct summary_race *a = x, *b = y;
	int rc = (int)a->change - (int)b->change;

	if (rc == 0)
		rc = summary_is_worse(b) - summary_is_worse(a);
	if (rc == 0)
		rc = (int)a->verdict.class - (int)b->verdict.class;
	if (rc == 0)
		rc = b->verdict.rank - a->verdict.rank;
	return rc ? rc : by_side(a, b);
}

void summary_sort(struct summary *m)
{
	if (m->race_count)
		qsort(m->races, m->race_count, sizeof(*m->races), compare);
}

/* ---- counts ---- */

size_t summary_of(const struct summary *m, enum store_change change)
{
	size_t n = 0;

	for (size_t i = 0; i < m->race_count; i++)
		n += m->races[i].change == change;
	return n;
}

size_t summary_of_class(const struct summary *m, enum store_change change, enum summary_class class)
{
	size_t n = 0;

	for (size_t i = 0; i < m->race_count; i++)
		n += m->races[i].change == change && m->races[i].verdict.class == class;
	return n;
}

/* Returns whether the class became more serious. A change from "not judged" never counts as more serious. */
static bool class_is_worse(const struct summary_race *r)
{
	return r->judged_before && r->before.class != SUMMARY_UNJUDGED && r->verdict.class < r->before.class;
}

void summary_classes(const struct summary *m, unsigned of_class[SUMMARY_CLASSES])
{
	memset(of_class, 0, SUMMARY_CLASSES * sizeof(*of_class));
	for (size_t i = 0; i < m->race_count; i++)
		of_class[m->races[i].verdict.class] += m->races[i].change != STORE_CHANGE_GONE;
}

size_t summary_worse(const struct summary *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->race_count; i++)
		n += m->races[i].change == STORE_CHANGE_VERDICT && class_is_worse(&m->races[i]);
	return n;
}

size_t summary_looked_for(const struct summary *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->race_count; i++) {
		const struct summary_race *r = &m->races[i];

		n += r->change == STORE_CHANGE_GONE && r->missed >= 0 && r->missed <= SUMMARY_MISSED_MAX;
	}
	return n;
}

bool summary_is_worse(const struct summary_race *r)
{
	if (r->triage == STORE_TRIAGE_KNOWN || r->triage == STORE_TRIAGE_WONTFIX || r->unmended || r->suppressed[0])
		return false;
	return r->change == STORE_CHANGE_NEW || r->change == STORE_CHANGE_BACK ||
	       (r->change == STORE_CHANGE_VERDICT && class_is_worse(r));
}

/* ---- rounds ---- */

/* Add the overhead of a round to a sum of rounds: the mean, weighted by sampled time, and the worst run. */
static void add_lost(struct summary_round *sum, const struct summary_round *r)
{
	double whole = (double)sum->sampled_ns + (double)r->sampled_ns;

	if (r->lost_permille < 0)
		return;
	if (sum->lost_permille < 0)
		sum->lost_permille = r->lost_permille;
	else if (whole > 0)
		sum->lost_permille =
			(int)((sum->lost_permille * (double)sum->sampled_ns + r->lost_permille * (double)r->sampled_ns) /
				      whole +
			      0.5);
	if (r->lost_most > sum->lost_most)
		sum->lost_most = r->lost_most;
}

static void add_round(struct summary_round *sum, const struct summary_round *r)
{
	add_lost(sum, r);
	sum->runs += r->runs;
	sum->done += r->done;
	sum->broken += r->broken;
	sum->cut_off += r->cut_off;
	sum->hits += r->hits;
	sum->windows += r->windows;
	sum->conflicts += r->conflicts;
	sum->explored += r->explored;
	sum->trials += r->trials;
	sum->untried += r->untried;
	sum->sampled_ns += r->sampled_ns;
	if (!sum->started[0])
		sum->started = r->started;
	sum->ended = r->ended;
}

struct summary_round summary_total(const struct summary *m)
{
	struct summary_round sum = {.number = m->to, .started = "", .ended = "", .lost_permille = -1, .lost_most = -1};

	for (size_t i = 0; i < m->round_count; i++) {
		if (m->rounds[i].now)
			add_round(&sum, &m->rounds[i]);
	}
	/* Count the races of the list: the sum of the rounds' counts would count a race once for each round that saw it. */
	sum.races = (unsigned)(m->race_count - summary_of(m, STORE_CHANGE_GONE));
	sum.fresh = (unsigned)summary_of(m, STORE_CHANGE_NEW);
	return sum;
}

struct summary_point summary_covered(const struct summary *m)
{
	return m->point_count ? m->points[m->point_count - 1] : (struct summary_point){0};
}

struct summary_point summary_covered_before(const struct summary *m)
{
	struct summary_point last = {0};

	for (size_t i = 0; i < m->point_count && !m->points[i].now; i++)
		last = m->points[i];
	return last;
}

/* ---- words ---- */

const char *summary_class_word(enum summary_class class)
{
	static const char *const words[SUMMARY_CLASSES] = {
		[SUMMARY_HARMFUL] = "harmful candidate",       [SUMMARY_UNCLEAR] = "unclear", [SUMMARY_UNJUDGED] = "not judged",
		[SUMMARY_SYNCHRONISATION] = "synchronisation", [SUMMARY_BENIGN] = "benign",
	};

	return words[class];
}

const char *summary_change_means(const struct summary *m, enum store_change change)
{
	static const char *const means[STORE_CHANGES] = {
		[STORE_CHANGE_NEW] = "no earlier round has these",
		[STORE_CHANGE_BACK] = "these were marked as fixed, and kernels with the fix show them",
		[STORE_CHANGE_VERDICT] = "these have another verdict than when they were last seen",
		[STORE_CHANGE_GONE] = "not seen again; without enough windows at their sites, that proves nothing",
		[STORE_CHANGE_AGAIN] = "not in the round before, but in an earlier round with the same verdict",
		[STORE_CHANGE_NONE] = "the round before has these, with the same verdict",
	};

	return m->pair && change == STORE_CHANGE_NEW ? "only the second round has these" : means[change];
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Fills the races of a round summary from the store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/learn/estimate.h"
#include "hv/campaign/list/fill_internal.h"

#define SIDE_MAX 512

/* ---- one race ---- */

enum summary_class fill_class(enum verdict_class class, const char *rule)
{
	static const enum summary_class classes[] = {
		[VERDICT_HARMFUL] = SUMMARY_HARMFUL,
		[VERDICT_UNCLEAR] = SUMMARY_UNCLEAR,
		[VERDICT_SYNCHRONISATION] = SUMMARY_SYNCHRONISATION,
		[VERDICT_BENIGN] = SUMMARY_BENIGN,
	};

	return rule[0] ? classes[class] : SUMMARY_UNJUDGED;
}

/*
 * Returns a side as text: "write in ext4_foo [ext4]" for a CPU, "write by virtio-blk:read" for a device. If side->function
 * has a colon, it is a device's type and operation, because no function's name has a colon.
 */
static const char *side_text(struct fill *f, const struct store_side *side)
{
	char text[SIDE_MAX];

	if (strcmp(side->function, "unknown") == 0)
		snprintf(text, sizeof(text), "%s by an unseen writer", side->kind);
	else if (strchr(side->function, ':'))
		snprintf(text, sizeof(text), "%s by %s", side->kind, side->function);
	else
		snprintf(text, sizeof(text), "%s in %s%s%s%s", side->kind, side->function, side->module[0] ? " [" : "",
			 side->module, side->module[0] ? "]" : "");
	return fill_text(f, text);
}

/* Returns the subsystem of the first side with a known source file. */
static const char *subsystem_of(struct fill *f, const struct store_race *from)
{
	const struct store_side *side = &from->sides[from->sides[0].file[0] || !from->sides[1].file[0] ? 0 : 1];
	char folder[SIDE_MAX];
	const char *name = subsystem_find(f->query->subsystems, side->file);

	if (name)
		return fill_text(f, name);
	return fill_text(f, subsystem_folder(side->file, side->module, folder, sizeof(folder)));
}

static int fill_builds(struct fill *f, int64_t id, struct summary_race *r)
{
	struct store_races_query q = f->selected;
	struct store_builds builds = {0};
	int rc;

	q.race = id;
	rc = store_builds(f->store, &q, &builds, f->err);
	r->builds = rc == 0 && builds.count ? calloc(builds.count, sizeof(*r->builds)) : NULL;
	if (rc == 0 && builds.count && !r->builds)
		rc = err_set(f->err, EXIT_INTERNAL, "out of memory");
	for (size_t i = 0; rc == 0 && i < builds.count; i++) {
		struct summary_build *b = &r->builds[i];

		*b = (struct summary_build){.release = fill_release(f, builds.list[i].banner),
					    .build_id = fill_text(f, builds.list[i].build_id),
					    .report = fill_text(f, builds.list[i].report),
					    .first = fill_time(f, builds.list[i].first),
					    .last = fill_time(f, builds.list[i].last),
					    .now = builds.list[i].now};
		r->build_count = i + 1;
	}
	store_builds_free(&builds);
	return rc;
}

static struct summary_verdict verdict_of(struct fill *f, const struct store_verdict *v)
{
	return (struct summary_verdict){.class = fill_class(v->class, v->rule),
					.rank = v->rank,
					.rule = fill_text(f, v->rule),
					.evidence = fill_text(f, v->evidence)};
}

int fill_race(struct fill *f, const struct store_race *from, enum store_change change, struct summary_race *r)
{
	*r = (struct summary_race){.stored = from->id,
				   .id = fill_text(f, from->name),
				   .side = {side_text(f, &from->sides[0]), side_text(f, &from->sides[1])},
				   .datum = fill_text(f, from->datum),
				   .subsystem = subsystem_of(f, from),
				   .atomicity = store_race_is_atomicity(from),
				   .change = change,
				   .verdict = verdict_of(f, &from->verdict),
				   .before = verdict_of(f, &from->before),
				   .judged_before = from->earlier != 0,
				   .triage = from->triage,
				   .note = fill_line(f, from->note),
				   .who = fill_line(f, from->who),
				   .mended = fill_line(f, from->mended),
				   .unmended = from->triage == STORE_TRIAGE_FIXED && from->mended[0] &&
					       from->change != STORE_CHANGE_BACK,
				   .suppressed = fill_line(f, from->verdict.suppressed),
				   .when = fill_time(f, from->triaged),
				   .instances = from->seen,
				   .runs = (unsigned)from->runs,
				   .rounds = (unsigned)from->rounds,
				   .first_round = (unsigned)from->first_round,
				   .missed = -1};
	return change <= STORE_CHANGE_GONE || f->query->all ? fill_builds(f, from->id, r) : 0;
}

/* ---- races that are gone ---- */

/* A race that is gone: its place in the summary, and the number of runs that saw it. */
struct gone {
	size_t index;
	uint64_t runs;
};

/*
 * For each of the `count` races in `list`, all of which are gone, fill in the probability that the selected rounds would miss
 * it if the kernel still had it. `list` and `efforts` have the same order.
 */
static int fill_missed(struct fill *f, const struct gone *list, struct store_effort *efforts, size_t count)
{
	if (store_efforts(f->store, &f->selected, efforts, count, f->err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct summary_race *r = &f->m->races[list[i].index];

		r->windows_before = efforts[i].before;
		r->windows_since = efforts[i].since;
		r->missed = learn_missed(list[i].runs, efforts[i].before, efforts[i].since);
	}
	return 0;
}

/*
 * Fill in, for each race that is gone, the probability that the selected rounds would miss the race if the kernel still had it.
 * Call it before the summary is sorted: f->m->races[i] must be the race *from[i].
 */
static int fill_gone(struct fill *f, const struct store_race *const *from)
{
	struct gone *list = calloc(f->m->race_count + 1, sizeof(*list));
	struct store_effort *efforts = calloc(f->m->race_count + 1, sizeof(*efforts));
	size_t count = 0;
	int rc;

	for (size_t i = 0; list && efforts && i < f->m->race_count; i++) {
		if (f->m->races[i].change != STORE_CHANGE_GONE)
			continue;
		list[count] = (struct gone){i, from[i]->total_runs};
		efforts[count++].race = from[i]->id;
	}
	if (!list || !efforts)
		rc = err_set(f->err, EXIT_INTERNAL, "out of memory");
	else
		rc = count ? fill_missed(f, list, efforts, count) : 0;
	free(list);
	free(efforts);
	return rc;
}

/* ---- comparison with all earlier rounds ---- */

static int make_room(struct fill *f, size_t count)
{
	f->m->races = count ? calloc(count, sizeof(*f->m->races)) : NULL;
	return !count || f->m->races ? 0 : err_set(f->err, EXIT_INTERNAL, "out of memory");
}

int fill_races(struct fill *f)
{
	struct store_races races = {0};
	const struct store_race **from = NULL;
	int rc = store_races(f->store, &f->selected, &races, f->err);

	if (rc == 0)
		rc = make_room(f, races.count);
	if (rc == 0 && !(from = calloc(races.count + 1, sizeof(*from))))
		rc = err_set(f->err, EXIT_INTERNAL, "out of memory");
	for (size_t i = 0; rc == 0 && i < races.count; i++) {
		from[i] = &races.list[i];
		rc = fill_race(f, from[i], from[i]->change, &f->m->races[f->m->race_count++]);
	}
	if (rc == 0 && !f->query->no_coverage)
		rc = fill_gone(f, from);
	free(from);
	store_races_free(&races);
	return rc;
}

/* ---- two rounds compared ---- */

static int by_id(const void *x, const void *y)
{
	const struct store_race *a = *(const struct store_race *const *)x, *b = *(const struct store_race *const *)y;

	return (a->id > b->id) - (a->id < b->id);
}

/* The races that one round saw. */
struct seen {
	struct store_races races;
	const struct store_race **list; /* sorted by id */
	size_t count;
};

static int get_seen(struct fill *f, size_t round, struct seen *out)
{
	struct store_races_query q = {.round = f->rounds.list[round].id};

	if (store_races(f->store, &q, &out->races, f->err) < 0)
		return -1;
	out->list = calloc(out->races.count + 1, sizeof(*out->list));
	if (!out->list)
		return err_set(f->err, EXIT_INTERNAL, "out of memory");
	for (size_t i = 0; i < out->races.count; i++) {
		if (out->races.list[i].change != STORE_CHANGE_GONE)
			out->list[out->count++] = &out->races.list[i];
	}
	qsort(out->list, out->count, sizeof(const struct store_race *), by_id);
	return 0;
}

static void free_seen(struct seen *s)
{
	free(s->list);
	store_races_free(&s->races);
}

/*
 * Two rounds are compared: `old` is the race in the earlier one, and `now` in the later one; one of the two is NULL if its
 * round did not see the race. Append `now` to the summary, or `old` if `now` is NULL.
 */
static int fill_compared(struct fill *f, const struct store_race *old, const struct store_race *now)
{
	static const struct store_verdict none = {.class = VERDICT_BENIGN, .rule = "", .evidence = "", .suppressed = ""};
	const struct store_race *last = now ? now : old;
	struct store_race race;
	bool same = old && now && old->verdict.class == now->verdict.class && strcmp(old->verdict.rule, now->verdict.rule) == 0;

	if (!last)
		return 0;
	race = *last;
	race.earlier = old != NULL;
	race.before = old ? old->verdict : none;
	if (!now)
		race.seen = race.runs = 0;
	return fill_race(f, &race,
			 same	? STORE_CHANGE_NONE
			 : !now ? STORE_CHANGE_GONE
			 : old	? STORE_CHANGE_VERDICT
				: STORE_CHANGE_NEW,
			 &f->m->races[f->m->race_count++]);
}

static int compare_seen(struct fill *f, const struct seen *old, const struct seen *now)
{
	const struct store_race **from = calloc(old->count + now->count + 1, sizeof(*from));
	size_t i = 0, j = 0;
	int rc = from ? make_room(f, old->count + now->count) : err_set(f->err, EXIT_INTERNAL, "out of memory");

	while (rc == 0 && (i < old->count || j < now->count)) {
		const struct store_race *a = i < old->count ? old->list[i] : NULL, *b = j < now->count ? now->list[j] : NULL;

		if (a && b && a->id < b->id)
			b = NULL;
		else if (a && b && a->id > b->id)
			a = NULL;
		i += a != NULL;
		j += b != NULL;
		if (a || b)
			from[f->m->race_count] = b ? b : a;
		rc = fill_compared(f, a, b);
	}
	if (rc == 0)
		rc = fill_gone(f, from);
	free(from);
	return rc;
}

int fill_pair(struct fill *f)
{
	struct seen old = {0}, now = {0};
	int rc = get_seen(f, f->base, &old);

	if (rc == 0)
		rc = get_seen(f, f->to, &now);
	if (rc == 0)
		rc = compare_seen(f, &old, &now);
	free_seen(&old);
	free_seen(&now);
	return rc;
}

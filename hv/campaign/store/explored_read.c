// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the result of a run of `outrider explore` into a struct run_data. The file is not trusted. */
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/compress.h"
#include "hv/campaign/store/explored.h"
#include "hv/campaign/store/internal.h"
#include "hv/campaign/store/run_file.h"
#include "hv/report/datum.h"
#include "hv/report/words.h"

#define SCHEMA "outrider-explore/1"
#define SCHEDULES 4 /* of each candidate */
#define LIST_MAX 1000000

struct reading {
	struct json_reader r;
	const char *path;
	const json_t *candidates, *trials;
	struct run_data *d;
	FILE *lines;
	size_t tried;
};

/* ---- races ---- */

/* Split a site's name, "module:function+0x5", into the side's symbol. A site without a function has no symbol. */
static void set_symbol(const char *site, struct guest_symbol *out)
{
	const char *colon = strchr(site, ':'), *plus = strrchr(site, '+'), *name = colon ? colon + 1 : site;

	if (!plus || plus < name || strncmp(site, "image+", 6) == 0 || strncmp(site, "raw+", 4) == 0)
		return;
	snprintf(out->module, sizeof(out->module), "%.*s", colon ? (int)(colon - site) : 0, site);
	snprintf(out->name, sizeof(out->name), "%.*s", (int)(plus - name), name);
}

/* Returns candidate `c` as a race, which the caller frees, or NULL if memory runs out or the candidate is invalid. */
static struct race *race_of(struct reading *g, const json_t *c)
{
	const json_t *sides = json_read_array(&g->r, c, "sides", 2);
	struct race *race = race_new();

	for (unsigned i = 0; race && i < 2; i++) {
		const json_t *side = json_array_get(sides, i);

		json_read_text(&g->r, side, "name", race->site[i], sizeof(race->site[i]));
		race->rw[i] = (uint8_t)access_from_word(json_read_string(&g->r, side, "access"));
		race->first.sides[i].kind = RACE_SIDE_CPU;
		set_symbol(race->site[i], &race->first.sides[i].symbol);
	}
	if (!race)
		err_set(g->r.err, EXIT_INTERNAL, "out of memory");
	else
		datum_memory_read(&g->r, c, &race->first.memory);
	return race;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * The outcomes of trials that did harm, each with the rule, the rank and the first words of the evidence of its verdict. The
 * ranks are near the highest one, 99, because the harm was seen.
 */
static const struct harm {
	const char *outcome, *rule;
	int rank;
	const char *says;
	enum store_outcome kind; /* kind of the run's finding; STORE_OK: only a race, no finding */
} harms[] = {
	{"complaint", "forced-complaint", 98, "the kernel complains", STORE_COMPLAINT},
	{"hang", "forced-hang", 97, "the programs hang", STORE_HANG},
	{"freed-twice", "forced-freed-twice", 97, "the kernel frees an object twice", STORE_OK},
	{"killed", "forced-killed", 97, "the kernel kills a program that no serial order kills", STORE_OK},
	{"leak", "forced-leak", 96, "the kernel loses memory", STORE_OK},
};

static const struct harm *harm_of(const char *outcome)
{
	for (size_t i = 0; i < sizeof(harms) / sizeof(harms[0]); i++) {
		if (strcmp(outcome, harms[i].outcome) == 0)
			return &harms[i];
	}
	return NULL;
}

/* If the harm that a trial did is also a finding of the run (harm->kind), add the finding. Its file is the trial's scenario. */
static int add_complaint(struct reading *g, const struct harm *harm, const char *line, const char *scenario)
{
	struct run_data *d = g->d;
	struct run_data_complaint *c;

	if (harm->kind == STORE_OK)
		return 0;
	c = list_grow(&d->complaints, &d->complaint_count, sizeof(*c), g->r.err);
	if (!c)
		return -1;
	*c = (struct run_data_complaint){
		.kind = harm->kind,
		.line = text_copy(d->text, line),
		.text = text_copy(d->text, line),
		.where = "",
		.file = scenario[0] ? text_printf(d->text, "%.*s%s", (int)(file_name(g->path) - g->path), g->path, scenario)
				    : "",
	};
	return 0;
}

/* Returns the candidate's race, or NULL with the error set. Adds the race if no earlier trial did harm at its two sites. */
static struct run_data_race *find_race(struct reading *g, const json_t *candidate)
{
	struct run_data *d = g->d;
	const char *id = text_printf(d->text, "%.12s", json_read_string(&g->r, candidate, "race"));
	struct run_data_race *out;
	struct race *race;
	bool swap;

	for (size_t i = 0; i < d->race_count; i++) {
		if (strcmp(d->races[i].report, id) == 0)
			return &d->races[i];
	}
	out = list_grow(&d->races, &d->race_count, sizeof(*out), g->r.err);
	race = out ? race_of(g, candidate) : NULL;
	if (!race)
		return NULL;
	swap = strcmp(race->site[0], race->site[1]) > 0;
	*out = (struct run_data_race){
		.report = id,
		.site = {text_copy(d->text, race->site[swap]), text_copy(d->text, race->site[!swap])},
	};
	store_key(race, d->text, &out->key);
	race_free(race);
	return out;
}

/*
 * Returns what the trial showed as text: "objects of the cache NAME" if objects of this cache are lost or freed twice, else the
 * kernel's complaint, or "" if the kernel did not complain.
 */
static const char *said_of(struct reading *g, const json_t *trial)
{
	const char *cache = json_string_value(json_object_get(json_object_get(trial, "leak"), "cache"))
				    ?: json_string_value(json_object_get(json_object_get(trial, "freed_twice"), "cache"));

	if (cache)
		return text_printf(g->d->text, "objects of the cache %.64s", cache);
	return json_string_value(json_object_get(trial, "text")) ?: "";
}

/*
 * Take a trial that did harm. Of several such trials at the same two sites, the first with the most serious outcome makes the
 * verdict.
 */
static int take_harm(struct reading *g, const json_t *trial, const json_t *candidate, const struct harm *harm)
{
	const char *schedule = json_read_string(&g->r, trial, "schedule");
	const char *said = said_of(g, trial);
	const char *scenario = file_name(json_string_value(json_object_get(trial, "scenario")) ?: "");
	struct run_data_race *race = find_race(g, candidate);

	if (!race)
		return -1;
	race->seen++;
	if (race->verdict.rank >= harm->rank)
		return 0;
	race->verdict =
		(struct store_verdict){.class = VERDICT_HARMFUL, .rank = harm->rank, .rule = harm->rule, .suppressed = ""};
	race->verdict.evidence = text_printf(g->d->text, "%s in the schedule %.16s%s%.200s%s%.64s", harm->says, schedule,
					     said[0] ? ": " : "", said, scenario[0] ? "; scenario " : "", scenario);
	return add_complaint(g, harm, said[0] ? said : race->verdict.evidence, scenario);
}

/* ---- trials ---- */

static const char *site_of(struct reading *g, const json_t *candidate, size_t side)
{
	return json_read_string(&g->r, json_array_get(json_object_get(candidate, "sides"), side), "name");
}

static int take_trial(struct reading *g, const json_t *trial)
{
	size_t index = (size_t)json_read_number(&g->r, trial, "candidate", LIST_MAX);
	const json_t *candidate = json_array_get(g->candidates, index);
	const char *forced = json_read_string(&g->r, trial, "forced");
	const char *outcome = json_read_string(&g->r, trial, "outcome");
	const struct harm *harm = harm_of(outcome);
	const char *sites[2];

	if (!candidate) {
		json_read_wrong(&g->r, "candidate", "the index of a candidate");
		return -1;
	}
	for (size_t i = 0; i < 2; i++)
		sites[i] = site_of(g, candidate, i);
	/* Leave out a trial at a site whose name has a blank, because blanks separate the words of a line (EXPLORED_LINE). */
	if (strchr(sites[0], ' ') || strchr(sites[1], ' '))
		return 0;
	g->tried += strcmp(outcome, "failed") != 0 && strcmp(forced, "not-reached") != 0;
	fprintf(g->lines, EXPLORED_LINE, sites[0], sites[1], json_read_string(&g->r, trial, "schedule"), forced, outcome);
	return harm && take_harm(g, trial, candidate, harm) < 0 ? -1 : g->r.failed ? -1 : 0;
}

static int take_trials(struct reading *g)
{
	char *text = NULL;
	size_t size = 0;
	int rc = 0;

	g->lines = open_memstream(&text, &size);
	if (!g->lines)
		return err_set(g->r.err, EXIT_INTERNAL, "out of memory");
	for (size_t i = 0; rc == 0 && i < json_array_size(g->trials); i++)
		rc = take_trial(g, json_array_get(g->trials, i));
	if (fclose(g->lines) != 0)
		rc = err_set(g->r.err, EXIT_INTERNAL, "out of memory");
	if (rc == 0)
		g->d->explored.data = record_compress(text, size, &g->d->explored.size, g->r.err);
	free(text);
	return g->d->explored.data ? 0 : -1;
}

/* ---- candidates ---- */

/*
 * Returns the number of candidates whose order likely matters. These are the candidates whose sides hold no common lock, of
 * whose two accesses none is LOCKed and none is made by a function that serves the whole kernel (such as the allocator), and
 * whose two instructions are not both executed by the baseline program.
 */
static size_t count_own(const json_t *candidates)
{
	static const char *const reasons[] = {"common_lock", "one_side_locked", "serves_all", "in_baseline"};
	size_t own = 0;

	for (size_t i = 0; i < json_array_size(candidates); i++) {
		bool is_own = true;

		for (size_t k = 0; k < sizeof(reasons) / sizeof(reasons[0]); k++)
			is_own &= !json_is_true(json_object_get(json_array_get(candidates, i), reasons[k]));
		own += is_own;
	}
	return own;
}

static int take_document(struct reading *g, const json_t *o)
{
	struct run_data *d = g->d;
	struct run_data_explored *e = &d->explored;
	const json_t *programs = json_read_array(&g->r, o, "programs", 2);
	size_t tried, all;

	if (strcmp(json_read_string(&g->r, o, "schema"), SCHEMA) != 0)
		json_read_wrong(&g->r, "schema", SCHEMA);
	d->build_id = text_copy(d->text, json_string_value(json_object_get(o, "build_id")));
	d->banner = text_copy(d->text, json_string_value(json_object_get(o, "kernel")));
	e->prepare = text_copy(d->text, json_string_value(json_object_get(o, "prepare")));
	for (size_t i = 0; i < 2; i++)
		e->program[i] = text_copy(d->text, json_read_string(&g->r, json_array_get(programs, i), "command"));
	g->candidates = json_read_array(&g->r, o, "candidates", LIST_MAX);
	g->trials = json_read_array(&g->r, o, "trials", LIST_MAX);
	tried = (size_t)json_read_number(&g->r, o, "skipped", SCHEDULES * LIST_MAX);
	all = SCHEDULES * json_array_size(g->candidates);
	if (json_object_get(o, "schedules")) /* results of older builds have no such number */
		all = (size_t)json_read_number(&g->r, o, "schedules", SCHEDULES * LIST_MAX);
	if (g->r.failed || take_trials(g) < 0)
		return -1;
	tried += g->tried;
	e->candidates = (int64_t)json_array_size(g->candidates);
	e->own = (int64_t)count_own(g->candidates);
	e->trials = (int64_t)json_array_size(g->trials);
	e->untried = tried < all ? (int64_t)(all - tried) : 0;
	d->finished = true;
	return 0;
}

int explored_read(struct run_data *d, const char *path, struct err *err)
{
	struct run_file file;
	struct reading g = {.r = {.what = path, .err = err}, .path = path, .d = d};
	json_error_t error;
	json_t *o;
	int rc;

	if (run_file_open(&file, path, err) < 0)
		return -1;
	o = json_load_file(file.name, JSON_REJECT_DUPLICATES, &error);
	run_file_close(&file);
	if (!o)
		return err_set(err, EXIT_INPUT, "%s:%d: %s", path, error.line, error.text);
	rc = take_document(&g, o);
	json_decref(o);
	if (rc == 0 && text_failed(d->text, err))
		rc = -1;
	if (rc == 0)
		run_data_sort(d);
	return rc;
}

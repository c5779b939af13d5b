// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the result of `outrider explore` as JSON (--format json), as docs/explore.schema.json describes it. */
#include <stdio.h>
#include <string.h>

#include "hv/cli/explore_show.h"
#include "hv/report/datum.h"
#include "hv/report/json/write.h"
#include "hv/report/words.h"

#define SCHEMA "outrider-explore/1"
#define NS_PER_MS 1000000u

static json_t *calls_json(struct json_builder *b, const char *const *names, const uint64_t *calls)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < EXPLORE_ALSO_MAX && names[i]; i++) {
		json_t *o = json_object();

		json_put(b, o, "function", json_clean(names[i], strlen(names[i])));
		json_put(b, o, "calls", json_whole(calls[i]));
		json_append(b, list, o);
	}
	return list;
}

static json_t *program_json(struct json_builder *b, const struct explore_config *config, const struct explore_result *r,
			    unsigned side)
{
	const struct explore_recording *e = &r->recording[side];
	json_t *o = json_object();

	json_put(b, o, "command", json_clean(config->command[side], strlen(config->command[side])));
	json_put(b, o, "recorded", json_string(explore_recorded_word(e->end)));
	json_put(b, o, "instructions", json_whole(e->steps));
	json_put(b, o, "system_calls", json_whole(e->entries));
	json_put(b, o, "other_calls", calls_json(b, config->also[side], e->calls));
	json_put(b, o, "accesses", json_whole(e->accesses));
	json_put(b, o, "milliseconds", json_whole(e->ns / NS_PER_MS));
	return o;
}

static json_t *side_json(struct json_builder *b, const struct explore_side *side, uint64_t slide)
{
	char site[EXPLORE_SITE_MAX], name[SITE_NAME_MAX];
	json_t *o = json_object();

	explore_site(side, site);
	explore_site_name(side, slide, name);
	json_put(b, o, "site", json_clean(site, sizeof(site)));
	json_put(b, o, "by", side->access.caller ? json_clean(side->symbol.name, sizeof(side->symbol.name)) : json_null());
	json_put(b, o, "name", json_string(name));
	json_put(b, o, "access", json_string(access_word(side->access.rw)));
	json_put(b, o, "locked", json_boolean(side->access.locked));
	json_put(b, o, "address", json_hex(side->access.gva));
	json_put(b, o, "size", json_whole(side->access.size));
	json_put(b, o, "times", json_whole(side->times));
	return o;
}

static json_t *candidate_json(struct json_builder *b, const struct explore_candidate *c, uint64_t slide)
{
	json_t *o = json_object(), *sides = json_array();
	char datum[DATUM_TEXT_MAX], name[2][SITE_NAME_MAX], race[RACE_ID_MAX];
	bool named = datum_memory_path(&c->memory, datum);

	for (unsigned side = 0; side < 2; side++) {
		explore_site_name(&c->side[side], slide, name[side]);
		json_append(b, sides, side_json(b, &c->side[side], slide));
	}
	race_id(name[0], name[1], race);
	json_put(b, o, "race", json_string(race));
	json_put(b, o, "sides", sides);
	json_put(b, o, "datum", named ? json_clean(datum, sizeof(datum)) : json_null());
	json_put(b, o, "memory", datum_memory_json(b, &c->memory));
	json_put(b, o, "common_lock", json_boolean(c->common_lock));
	json_put(b, o, "one_side_locked", json_boolean(c->locked));
	json_put(b, o, "serves_all", json_boolean(c->serves_all));
	json_put(b, o, "after", c->after < 0 ? json_null() : json_whole((unsigned)c->after));
	json_put(b, o, "own_objects", json_boolean(c->fresh));
	json_put(b, o, "in_baseline", json_boolean(c->baseline == 2));
	json_put(b, o, "in_module", json_boolean(c->module));
	json_put(b, o, "other_call", json_boolean(c->other_call));
	return o;
}

static json_t *scenario_json(const struct explore_config *config, const struct explore_trial *t)
{
	char path[EXPLORE_PATH_MAX];

	if (!t->scenario[0])
		return json_null();
	explore_scenario(config, t, path);
	return json_clean(path, sizeof(path));
}

static json_t *walk_json(struct json_builder *b, const struct explore_walk *w, uint64_t slide)
{
	json_t *o = json_object(), *points = json_array();

	for (unsigned i = 0; i < w->count; i++) {
		json_t *point = side_json(b, &w->point[i].at, slide);

		json_put(b, point, "program", json_whole(w->point[i].side));
		json_append(b, points, point);
	}
	json_put(b, o, "first", json_whole(w->first));
	json_put(b, o, "change_points", points);
	return o;
}

/* Returns null if the outcome is not "state". */
static json_t *end_json(struct json_builder *b, const struct explore_trial *t)
{
	json_t *o, *serial;

	if (t->outcome != EXPLORE_STATE)
		return json_null();
	o = json_object();
	serial = json_array();
	for (unsigned i = 0; i < 2; i++)
		json_append(b, serial, json_hex(t->end.serial[i]));
	json_put(b, o, "address", json_hex(t->end.gva));
	json_put(b, o, "size", json_whole(t->end.size));
	json_put(b, o, "value", json_hex(t->end.value));
	json_put(b, o, "serial", serial);
	return o;
}

static json_t *object_json(struct json_builder *b, const struct explore_object *l)
{
	json_t *o = json_object();

	json_put(b, o, "address", json_hex(l->gva));
	json_put(b, o, "size", json_whole(l->size));
	json_put(b, o, "cache", l->cache[0] ? json_clean(l->cache, sizeof(l->cache)) : json_null());
	return o;
}

/* Returns null if the outcome is not "leak". */
static json_t *leak_json(struct json_builder *b, const struct explore_trial *t)
{
	const struct explore_object *l = &t->object;
	json_t *o;

	if (t->outcome != EXPLORE_LEAK)
		return json_null();
	o = object_json(b, l);
	json_put(b, o, "count", json_whole(l->count));
	json_put(b, o, "serial", json_whole(l->serial));
	json_put(b, o, "holds", l->holds.name[0] ? json_clean(l->holds.name, sizeof(l->holds.name)) : json_null());
	return o;
}

/* Returns null if the outcome is not "freed-twice". */
static json_t *freed_twice_json(struct json_builder *b, const struct explore_trial *t)
{
	return t->outcome == EXPLORE_FREED_TWICE ? object_json(b, &t->object) : json_null();
}

static json_t *result_json(int64_t value)
{
	return value == EXPLORE_NO_CALL ? json_null() : json_integer(value);
}

/* Returns null if the outcome is not "returns". */
static json_t *returns_json(struct json_builder *b, const struct explore_trial *t)
{
	json_t *list;

	if (t->outcome != EXPLORE_RETURNS)
		return json_null();
	list = json_array();
	for (unsigned side = 0; side < 2; side++) {
		const struct explore_return *e = &t->returns[side];
		json_t *o, *serial;
		char name[EXPLORE_CALL_MAX];

		if (!e->call)
			continue;
		o = json_object();
		serial = json_array();
		explore_call_name(e->number, name);
		for (unsigned i = 0; i < 2; i++)
			json_append(b, serial, result_json(e->serial[i]));
		json_put(b, o, "program", json_whole(side));
		json_put(b, o, "call", json_whole(e->call));
		json_put(b, o, "name", json_clean(name, sizeof(name)));
		json_put(b, o, "value", result_json(e->value));
		json_put(b, o, "serial", serial);
		json_append(b, list, o);
	}
	return list;
}

static json_t *trial_json(struct json_builder *b, const struct explore_config *config, const struct explore_trial *t,
			  uint64_t slide)
{
	json_t *o = json_object(), *statuses = json_array();
	bool walks = t->schedule == EXPLORE_WALK, forces_calls = t->schedule > EXPLORE_WALK;

	if (t->number) {
		json_put(b, o, "number", json_whole(t->number));
		json_put(b, o, "candidate", walks || forces_calls ? json_null() : json_whole(t->candidate));
		json_put(b, o, "walk", walks ? walk_json(b, &t->walk, slide) : json_null());
	}
	json_put(b, o, "schedule", json_string(explore_schedule_word(t->schedule)));
	json_put(b, o, "forced", json_string(explore_forced_word(t->forced)));
	json_put(b, o, "split", json_boolean(t->split));
	json_put(b, o, "outcome", json_string(explore_outcome_word(t->outcome)));
	for (unsigned side = 0; side < 2; side++)
		json_append(b, statuses, t->status[side] < 0 ? json_null() : json_integer(t->status[side]));
	json_put(b, o, "statuses", statuses);
	json_put(b, o, "text", json_clean(t->text, sizeof(t->text)));
	json_put(b, o, "state", end_json(b, t));
	json_put(b, o, "leak", leak_json(b, t));
	json_put(b, o, "freed_twice", freed_twice_json(b, t));
	json_put(b, o, "returns", returns_json(b, t));
	json_put(b, o, "milliseconds", json_whole(t->ns / NS_PER_MS));
	json_put(b, o, "scenario", scenario_json(config, t));
	json_put(b, o, "replayed", t->scenario[0] ? json_boolean(t->again) : json_null());
	return o;
}

/* Returns null if there are no random schedules. */
static json_t *walks_json(struct json_builder *b, const struct explore_config *config, const struct explore_result *r)
{
	json_t *o;

	if (!config->walks)
		return json_null();
	o = json_object();
	json_put(b, o, "most", json_whole(config->walks));
	json_put(b, o, "depth", json_whole(config->depth));
	json_put(b, o, "seed", json_whole(config->seed));
	json_put(b, o, "places", json_whole(r->places));
	json_put(b, o, "probability", json_real(r->probability));
	return o;
}

/*
 * Returns null if the kernel neither complained nor died in any run that let one program run to its end between two system
 * calls of the other one (EXPLORE_BETWEEN_A, EXPLORE_BETWEEN_B).
 */
static json_t *between_json(struct json_builder *b, const struct explore_config *config, const struct explore_result *r)
{
	const struct explore_trial *t = &r->between;
	json_t *o;

	if (!r->has_between)
		return json_null();
	o = trial_json(b, config, t, r->slide);
	json_put(b, o, "system_calls", json_whole(t->calls[explore_first(t->schedule)]));
	return o;
}

int explore_show_json(const struct explore_config *config, const struct explore_result *r, struct err *err)
{
	json_t *o = json_object(), *programs = json_array(), *candidates = json_array(), *serial = json_array(),
	       *trials = json_array();
	struct json_builder b = {0};

	for (unsigned i = 0; i < 2; i++)
		json_append(&b, programs, program_json(&b, config, r, i));
	for (unsigned i = 0; i < r->candidate_count; i++)
		json_append(&b, candidates, candidate_json(&b, &r->candidates[i], r->slide));
	for (unsigned i = 0; i < 2 && config->trials; i++)
		json_append(&b, serial, trial_json(&b, config, &r->serial[i], r->slide));
	for (unsigned i = 0; i < r->trial_count; i++)
		json_append(&b, trials, trial_json(&b, config, &r->trials[i], r->slide));
	json_put(&b, o, "schema", json_string(SCHEMA));
	json_put(&b, o, "tool_version", json_string(OUTRIDER_VERSION));
	json_put(&b, o, "kernel", json_clean(r->banner, sizeof(r->banner)));
	json_put(&b, o, "build_id", json_text(r->build_id));
	json_put(&b, o, "prepare", json_clean(config->prepare, strlen(config->prepare)));
	json_put(&b, o, "boot_milliseconds", json_whole(r->boot_ns / NS_PER_MS));
	json_put(&b, o, "programs", programs);
	json_put(&b, o, "candidates", candidates);
	json_put(&b, o, "serial", serial);
	json_put(&b, o, "trials", trials);
	json_put(&b, o, "between", between_json(&b, config, r));
	json_put(&b, o, "skipped", json_whole(r->skipped));
	json_put(&b, o, "schedules", json_whole(r->schedules));
	json_put(&b, o, "trials_per_minute", json_real(explore_trials_per_minute(r)));
	json_put(&b, o, "walks", walks_json(&b, config, r));
	json_put(&b, o, "first_finding", r->first < 0 ? json_null() : json_integer(r->trials[r->first].number));
	json_put(&b, o, "first_state", r->first_state < 0 ? json_null() : json_integer(r->trials[r->first_state].number));
	json_put(&b, o, "first_returns", r->first_returns < 0 ? json_null() : json_integer(r->trials[r->first_returns].number));
	return json_document_write(stdout, &b, o, err);
}

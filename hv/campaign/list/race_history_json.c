// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a race history as JSON: the document outrider-campaign-race/1, which docs/campaigns.md describes. */
#include "hv/campaign/list/fill_internal.h"
#include "hv/campaign/list/json.h"
#include "hv/campaign/list/race_history.h"
#include "hv/campaign/list/race_history_parts.h"
#include "hv/campaign/list/sentences.h"
#include "hv/report/json/race_json.h"
#include "hv/report/json/race_read.h"
#include "hv/report/json/sections_json.h"

#define SCHEMA "outrider-campaign-race/1"

static json_t *rounds_json(struct json_builder *b, const struct race_history *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->in_rounds.count; i++) {
		const struct store_race_round *r = &s->in_rounds.list[i];
		json_t *o = json_object();

		json_put(b, o, "campaign", json_text(r->campaign));
		json_put(b, o, "number", json_whole(r->number));
		json_put(b, o, "started", json_text(list_stamp(r->started, LIST_WORDS)));
		json_put(b, o, "instances", json_whole(r->seen));
		json_put(b, o, "runs", json_whole(r->runs));
		json_put(b, o, "class", json_string(summary_class_word(fill_class(r->class, r->rule))));
		json_put(b, o, "rule", json_text(r->rule));
		json_append(b, list, o);
	}
	return list;
}

static json_t *triage_json(struct json_builder *b, const struct race_history *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->triage_count; i++) {
		const struct race_history_triage *entry = &s->triage[i];
		json_t *o = json_object();

		json_put(b, o, "state", json_string(store_triage_word(entry->state)));
		json_put(b, o, "fixed_in", json_text(entry->mended));
		json_put(b, o, "note", json_text(entry->note));
		json_put(b, o, "who", json_text(entry->who));
		json_put(b, o, "when", json_text(entry->at));
		json_append(b, list, o);
	}
	return list;
}

/* Parse the stored record and write it again, so that the output has only members that docs/report-format.md describes. */
static json_t *record_json(struct json_builder *b, const struct race_history *s, struct err *err)
{
	struct race *race;
	json_t *o, *verdict;

	if (!s->record || s->race->atomicity)
		return json_null();
	race = race_read(s->record, s->race->id, err);
	if (!race)
		return NULL;
	o = race_json(race);
	race_free(race);
	verdict = list_json_verdict(b, &s->race->verdict);
	json_put(b, verdict, "suppressed", json_null());
	json_put(b, o, "verdict", verdict);
	return o;
}

/*
 * Parse the stored record of an atomicity suspicion and write it again, so that the output has only members that
 * sections_json() makes.
 */
static json_t *timeline_json(const struct race_history *s, struct err *err)
{
	struct chart_suspicion c;

	if (!s->record || !s->race->atomicity)
		return json_null();
	return sections_read(s->record, s->race->id, &c, err) == 0 ? sections_json(&c) : NULL;
}

int race_history_json(FILE *out, const struct race_history *s, struct err *err)
{
	struct json_builder b = {0};
	json_t *o = json_object();

	json_put(&b, o, "schema", json_string(SCHEMA));
	json_put(&b, o, "tool_version", json_text(s->m.version));
	json_put(&b, o, "store", json_text(s->m.store));
	json_put(&b, o, "race", list_json_race(&b, s->race));
	json_put(&b, o, "instances", json_whole(s->seen));
	json_put(&b, o, "runs", json_whole(s->runs));
	json_put(&b, o, "first", json_text(s->first));
	json_put(&b, o, "last", json_text(s->last));
	json_put(&b, o, "rounds", rounds_json(&b, s));
	json_put(&b, o, "triage", triage_json(&b, s));
	json_put(&b, o, "report", record_json(&b, s, err));
	json_put(&b, o, "sections", timeline_json(s, err));
	return json_document_write(out, &b, o, err);
}

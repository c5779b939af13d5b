// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the document outrider-campaign-list/1, which docs/campaigns.md and docs/campaign-list.schema.json describe. */
#include <stdlib.h>

#include "hv/campaign/list/gate.h"
#include "hv/campaign/list/json.h"
#include "hv/campaign/list/list.h"
#include "hv/campaign/list/sentences.h"

#define SCHEMA "outrider-campaign-list/1"

json_t *list_json_verdict(struct json_builder *b, const struct summary_verdict *v)
{
	json_t *o = json_object();

	json_put(b, o, "class", json_string(summary_class_word(v->class)));
	json_put(b, o, "rule", json_text(v->rule));
	json_put(b, o, "rank", json_integer(v->rank));
	json_put(b, o, "evidence", json_text(v->evidence));
	return o;
}

static json_t *triage_json(struct json_builder *b, const struct summary_race *r)
{
	json_t *o = json_object();

	json_put(b, o, "state", json_string(store_triage_word(r->triage)));
	json_put(b, o, "fixed_in", json_text(r->mended));
	json_put(b, o, "note", json_text(r->note));
	json_put(b, o, "who", json_text(r->who));
	json_put(b, o, "when", json_text(r->when));
	return o;
}

/*
 * Returns the evidence for the absence of a race that is gone: the windows at its sites, and the probability that they missed
 * it. Returns null for other races.
 */
static json_t *gone_json(struct json_builder *b, const struct summary_race *r)
{
	json_t *o;

	if (r->change != STORE_CHANGE_GONE)
		return json_null();
	o = json_object();
	json_put(b, o, "windows_before", json_whole(r->windows_before));
	json_put(b, o, "windows_since", json_whole(r->windows_since));
	json_put(b, o, "missed", r->missed < 0 ? json_null() : json_real(r->missed));
	return o;
}

static json_t *builds_json(struct json_builder *b, const struct summary_race *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->build_count; i++) {
		json_t *o = json_object();

		json_put(b, o, "release", json_text(r->builds[i].release));
		json_put(b, o, "build_id", json_text(r->builds[i].build_id));
		json_put(b, o, "report", json_text(r->builds[i].report));
		json_put(b, o, "first", json_text(r->builds[i].first));
		json_put(b, o, "last", json_text(r->builds[i].last));
		json_put(b, o, "now", json_boolean(r->builds[i].now));
		json_append(b, list, o);
	}
	return list;
}

json_t *list_json_race(struct json_builder *b, const struct summary_race *r)
{
	json_t *o = json_object(), *sides = json_array();

	json_put(b, o, "id", json_text(r->id));
	json_put(b, o, "kind", json_string(r->atomicity ? "atomicity" : "race"));
	json_put(b, o, "change", json_string(store_change_word(r->change)));
	json_put(b, o, "worse", json_boolean(summary_is_worse(r)));
	for (unsigned i = 0; i < 2; i++)
		json_append(b, sides, json_text(r->side[i]));
	json_put(b, o, "sides", sides);
	json_put(b, o, "datum", json_text(r->datum));
	json_put(b, o, "subsystem", json_text(r->subsystem));
	json_put(b, o, "verdict", list_json_verdict(b, &r->verdict));
	json_put(b, o, "before", r->judged_before ? list_json_verdict(b, &r->before) : json_null());
	json_put(b, o, "suppressed", json_text(r->suppressed));
	json_put(b, o, "triage", triage_json(b, r));
	json_put(b, o, "instances", json_whole(r->instances));
	json_put(b, o, "runs", json_whole(r->runs));
	json_put(b, o, "rounds", json_whole(r->rounds));
	json_put(b, o, "first_round", json_whole(r->first_round));
	json_put(b, o, "gone", gone_json(b, r));
	json_put(b, o, "builds", builds_json(b, r));
	return o;
}

static json_t *finding_json(struct json_builder *b, const struct summary_finding *f)
{
	json_t *o = json_object();

	json_put(b, o, "kind", json_text(f->kind));
	json_put(b, o, "new", json_boolean(f->is_new));
	json_put(b, o, "run", json_text(f->run));
	json_put(b, o, "line", json_text(f->line));
	json_put(b, o, "console", json_text(f->console));
	json_put(b, o, "folder", json_text(f->folder));
	json_put(b, o, "command", json_text(f->command));
	return o;
}

static json_t *classes_json(struct json_builder *b, const unsigned of_class[SUMMARY_CLASSES])
{
	json_t *o = json_object();

	for (int i = 0; i < SUMMARY_CLASSES; i++)
		json_put(b, o, summary_class_word((enum summary_class)i), json_whole(of_class[i]));
	return o;
}

static json_t *point_json(struct json_builder *b, const struct summary_point *p)
{
	json_t *o = json_object();

	json_put(b, o, "round", json_whole(p->round));
	json_put(b, o, "sampled_s", json_seconds(p->sampled_ns));
	json_put(b, o, "sites", json_whole(p->sites));
	json_put(b, o, "pairs", json_whole(p->pairs));
	json_put(b, o, "pairs_chao1", p->estimate > 0 ? json_real(p->estimate) : json_null());
	json_put(b, o, "pairs_chao1_low", p->estimate > 0 ? json_real(p->low) : json_null());
	json_put(b, o, "pairs_chao1_high", p->estimate > 0 ? json_real(p->high) : json_null());
	return o;
}

static json_t *lost_json(int permille)
{
	return permille < 0 ? json_null() : json_integer(permille);
}

static json_t *round_json(struct json_builder *b, const struct summary_round *r)
{
	json_t *o = json_object();

	json_put(b, o, "number", json_whole(r->number));
	json_put(b, o, "started", json_text(r->started));
	json_put(b, o, "ended", json_text(r->ended));
	json_put(b, o, "runs", json_whole(r->runs));
	json_put(b, o, "done", json_whole(r->done));
	json_put(b, o, "broken", json_whole(r->broken));
	json_put(b, o, "cut_off", json_whole(r->cut_off));
	json_put(b, o, "races", json_whole(r->races));
	json_put(b, o, "by_class", classes_json(b, r->of_class));
	json_put(b, o, "new", json_whole(r->fresh));
	json_put(b, o, "hits", json_whole(r->hits));
	json_put(b, o, "windows", json_whole(r->windows));
	json_put(b, o, "conflicts", json_whole(r->conflicts));
	json_put(b, o, "explored", json_whole(r->explored));
	json_put(b, o, "trials", json_whole(r->trials));
	json_put(b, o, "untried", json_whole(r->untried));
	json_put(b, o, "sampled_s", json_seconds(r->sampled_ns));
	json_put(b, o, "stopped_permille", lost_json(r->lost_permille));
	json_put(b, o, "stopped_most_permille", lost_json(r->lost_most));
	return o;
}

static json_t *history_json(struct json_builder *b, const struct summary *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < m->round_count; i++) {
		json_t *o = round_json(b, &m->rounds[i]);

		json_put(b, o, "now", json_boolean(m->rounds[i].now));
		json_append(b, list, o);
	}
	return list;
}

void list_json_ends(struct json_builder *b, json_t *o, const struct store_ends *ends)
{
	json_t *failures = json_object();

	for (int i = 0; i < STORE_OUTCOMES; i++) {
		if (ends_is_failure((enum store_outcome)i))
			json_put(b, failures, store_outcome_word((enum store_outcome)i), json_whole(ends->of_failure[i]));
	}
	json_put(b, o, "ok", json_whole(ends->ok));
	json_put(b, o, "broke", json_whole(ends->broke));
	json_put(b, o, "failed", json_whole(ends->failed));
	json_put(b, o, "failures", failures);
}

/* Returns how many results match each word of --fail-on. */
static json_t *gate_json(struct json_builder *b, const struct summary *m)
{
	json_t *o = json_object();

	for (int what = 0; what < GATE_WHATS; what++)
		json_put(b, o, gate_word((enum gate_what)what), json_whole(gate_count(m, (enum gate_what)what)));
	return o;
}

static json_t *summary_json(struct json_builder *b, const struct summary *m)
{
	struct summary_round total = summary_total(m);
	json_t *o = json_object();

	summary_classes(m, total.of_class);
	for (int i = 0; i < STORE_CHANGES; i++)
		json_put(b, o, store_change_word((enum store_change)i), json_whole(summary_of(m, (enum store_change)i)));
	json_put(b, o, "gone_looked_for", json_whole(summary_looked_for(m)));
	json_put(b, o, "changed_worse", json_whole(summary_worse(m)));
	json_put(b, o, "findings", json_whole(gate_count(m, GATE_FINDING)));
	json_put(b, o, "state", json_string(gate_state_word(gate_state(&m->ends, m->unfinished))));
	list_json_ends(b, o, &m->ends);
	json_put(b, o, "gate", gate_json(b, m));
	json_put(b, o, "round", round_json(b, &total));
	return o;
}

/* Returns the subsystems as an array, because titles from MAINTAINERS would make poor JSON keys. */
static json_t *subsystems_json(struct json_builder *b, const struct summary *m)
{
	size_t count;
	struct list_subsystem *subsystems = list_subsystems(m, &count);
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *o = json_object();

		json_put(b, o, "name", json_text(subsystems[i].name));
		json_put(b, o, "worse", json_whole(subsystems[i].worse));
		json_put(b, o, "changed", json_whole(subsystems[i].shown));
		json_put(b, o, "all", json_whole(subsystems[i].all));
		json_append(b, list, o);
	}
	free(subsystems);
	return list;
}

static json_t *document(struct json_builder *b, const struct summary *m)
{
	json_t *o = json_object(), *races = json_array(), *findings = json_array(), *points = json_array();

	for (size_t i = 0; i < m->race_count; i++)
		json_append(b, races, list_json_race(b, &m->races[i]));
	for (size_t i = 0; i < m->finding_count; i++)
		json_append(b, findings, finding_json(b, &m->findings[i]));
	for (size_t i = 0; i < m->point_count; i++)
		json_append(b, points, point_json(b, &m->points[i]));
	json_put(b, o, "schema", json_string(SCHEMA));
	json_put(b, o, "tool_version", json_text(m->version));
	json_put(b, o, "store", json_text(m->store));
	json_put(b, o, "campaign", json_text(m->campaign));
	json_put(b, o, "from", json_whole(m->from));
	json_put(b, o, "to", json_whole(m->to));
	json_put(b, o, "against", m->base ? json_whole(m->base) : json_null());
	json_put(b, o, "summary", summary_json(b, m));
	json_put(b, o, "races", races);
	json_put(b, o, "findings", findings);
	json_put(b, o, "subsystems", subsystems_json(b, m));
	json_put(b, o, "rounds", history_json(b, m));
	json_put(b, o, "coverage", points);
	json_put(b, o, "pool", m->pool ? json_whole(m->pool) : json_null());
	return o;
}

int list_json(FILE *out, const struct summary *m, struct err *err)
{
	struct json_builder b = {0};

	return json_document_write(out, &b, document(&b, m), err);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the results of `outrider replay` as JSON (--format json). The manual page describes the document. */
#include <stdio.h>

#include "hv/cli/replay_show.h"
#include "hv/report/json/replay_json.h"
#include "hv/report/replay.h"
#include "hv/report/words.h"

#define SCHEMA "outrider-replay/1"

static json_t *side_json(struct json_builder *b, struct scene *s, unsigned side)
{
	const struct rendezvous_side *at = &s->scenario.rendezvous.sides[side];
	struct source_line line;
	bool known = scene_source(s, side, &line);
	json_t *o = json_object();

	json_put(b, o, "site", json_string(s->scenario.facts.site[side]));
	json_put(b, o, "access", json_string(access_word(at->rw)));
	json_put(b, o, "address", json_hex(at->gva));
	json_put(b, o, "physical", json_hex(at->gpa));
	json_put(b, o, "size", json_whole(at->size));
	json_put(b, o, "cpu", json_whole(at->cpu));
	json_put(b, o, "task", json_clean(at->context.comm, sizeof(at->context.comm)));
	json_put(b, o, "pid", at->context.pid < 0 ? json_null() : json_integer(at->context.pid));
	json_put(b, o, "file", known ? json_clean(line.file, sizeof(line.file)) : json_null());
	json_put(b, o, "line", known && line.line ? json_whole(line.line) : json_null());
	return o;
}

/* Begin the document with the facts of the scenario. */
static json_t *begin(struct json_builder *b, struct scene *s)
{
	const struct scenario_facts *f = &s->scenario.facts;
	json_t *o = json_object(), *sides = json_array();

	json_put(b, o, "schema", json_string(SCHEMA));
	json_put(b, o, "tool_version", json_string(OUTRIDER_VERSION));
	json_put(b, o, "race", json_string(f->race));
	for (unsigned side = 0; side < 2; side++)
		json_append(b, sides, side_json(b, s, side));
	json_put(b, o, "sides", sides);
	json_put(b, o, "kept", json_clean(f->date, sizeof(f->date)));
	json_put(b, o, "kept_by", json_clean(f->version, sizeof(f->version)));
	json_put(b, o, "kernel", json_clean(f->banner, sizeof(f->banner)));
	json_put(b, o, "build_id", json_clean(f->build_id, sizeof(f->build_id)));
	json_put(b, o, "recorded", replay_instance_json(b, &f->instance));
	return o;
}

int replay_show_both_json(struct scene *s, const struct replay_shown *shown, struct err *err)
{
	struct json_builder b = {0};
	json_t *o = begin(&b, s);

	json_put(&b, o, "order", json_null());
	json_put(&b, o, "times", json_whole(shown->times));
	json_put(&b, o, "as_recorded", json_whole(shown->same));
	json_put(&b, o, "identical", json_whole(shown->identical));
	json_put(&b, o, "instance", replay_instance_json(&b, &shown->instance));
	return json_document_write(stdout, &b, o, err);
}

int replay_show_one_json(struct scene *s, unsigned first, const struct alone *one, bool same, struct err *err)
{
	const char *why = replay_failure_word(one->failure);
	struct json_builder b = {0};
	json_t *o = begin(&b, s), *result = replay_order_json(&b, &one->order);

	json_put(&b, result, "why", why ? json_string(why) : json_null());
	json_put(&b, result, "why_text", json_clean(one->why, sizeof(one->why)));
	json_put(&b, o, "order", json_whole(first + 1));
	json_put(&b, o, "times", json_whole(1));
	json_put(&b, o, "as_recorded", json_whole(same));
	json_put(&b, o, "result", result);
	return json_document_write(stdout, &b, o, err);
}

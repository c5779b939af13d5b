// SPDX-License-Identifier: GPL-2.0-or-later
/* Static Analysis Results Interchange Format 2.1.0 (OASIS, 2020). The section numbers below are those of the standard. */
#include <stdlib.h>
#include <string.h>

#include "hv/export/internal.h"
#include "hv/report/json/write.h"
#include "hv/report/words.h"

#define UNDECIDED_RULE "data-race"

static const char *rule_of(const struct export_race *r)
{
	return r->rule ? r->rule : UNDECIDED_RULE;
}

static json_t *message(struct json_builder *b, const char *text)
{
	json_t *o = json_object();

	json_put(b, o, "text", json_clean(text, strlen(text)));
	return o;
}

/* Section 3.28: a location has the function always, and the file and line where they are known. */
static json_t *location(struct json_builder *b, const struct race *race, unsigned which)
{
	const struct race_side *side = &race->first.sides[which];
	const struct source_line *line = export_line(race, which);
	json_t *o = json_object(), *logical = json_object(), *list = json_array();
	char name[EXPORT_NAME_MAX];

	if (line) {
		json_t *physical = json_object(), *artifact = json_object(), *region = json_object();

		json_put(b, artifact, "uri", json_clean(line->file, sizeof(line->file)));
		json_put(b, physical, "artifactLocation", artifact);
		json_put(b, region, "startLine", json_integer(line->line));
		if (line->column)
			json_put(b, region, "startColumn", json_integer(line->column));
		json_put(b, physical, "region", region);
		json_put(b, o, "physicalLocation", physical);
	}
	export_function(side, name);
	json_put(b, logical, "name", json_string(name));
	json_put(b, logical, "fullyQualifiedName", json_string(race->site[which]));
	json_put(b, logical, "kind", json_string("function"));
	json_append(b, list, logical);
	json_put(b, o, "logicalLocations", list);
	return o;
}

/* Section 3.44: each call and each inlined function has a frame. */
static void add_frames(struct json_builder *b, json_t *frames, const struct race *race, unsigned which, unsigned i)
{
	const struct guest_frame *call = &race->first.sides[which].calls.frames[i];
	size_t n;
	const struct source_line *line = race_names_lines(race->names, which, i, &n);
	char name[EXPORT_NAME_MAX];

	for (size_t k = 0; k < (n ? n : 1); k++) {
		json_t *frame = json_object(), *where = json_object(), *list = json_array(), *logical = json_object();

		if (line && line[k].function[0])
			export_text(line[k].function, sizeof(line[k].function), name);
		else if (call->symbol.name[0])
			export_text(call->symbol.name, sizeof(call->symbol.name), name);
		else
			snprintf(name, sizeof(name), "0x%llx", (unsigned long long)call->pc);
		json_put(b, logical, "fullyQualifiedName", json_string(name));
		json_append(b, list, logical);
		json_put(b, where, "logicalLocations", list);
		if (line && line[k].file[0] && line[k].line) {
			json_t *physical = json_object(), *artifact = json_object(), *region = json_object();

			json_put(b, artifact, "uri", json_clean(line[k].file, sizeof(line[k].file)));
			json_put(b, physical, "artifactLocation", artifact);
			json_put(b, region, "startLine", json_integer(line[k].line));
			json_put(b, physical, "region", region);
			json_put(b, where, "physicalLocation", physical);
		}
		json_put(b, frame, "location", where);
		json_append(b, frames, frame);
	}
}

static json_t *stacks(struct json_builder *b, const struct race *race)
{
	json_t *list = json_array();

	for (unsigned which = 0; which < 2; which++) {
		json_t *stack, *frames;

		if (!race->first.sides[which].calls.count)
			continue;
		stack = json_object();
		frames = json_array();
		for (unsigned i = 0; i < race->first.sides[which].calls.count; i++)
			add_frames(b, frames, race, which, i);
		json_put(b, stack, "message", message(b, which ? "the access in between" : "the access that was held"));
		json_put(b, stack, "frames", frames);
		json_append(b, list, stack);
	}
	return list;
}

/* Section 3.27.10: a race that nobody judged deserves a look, and a race that a rule calls benign is a note. */
static const char *level(const struct export_race *r)
{
	static const char *const words[] = {[EXPORT_HARMFUL] = "error", [EXPORT_UNSURE] = "warning", [EXPORT_BENIGN] = "note"};

	return words[r->level];
}

static json_t *properties(struct json_builder *b, const struct export_race *r)
{
	const struct observation *o = &r->race->first;
	json_t *list = json_object();
	char value[VALUE_TEXT_MAX];

	json_put(b, list, "instances", json_integer((json_int_t)r->race->count));
	json_put(b, list, "seenBy", json_string(how_word(o->how)));
	json_put(b, list, "address", json_hex(o->sides[0].gva));
	value_text(o->before, o->data_len, value);
	json_put(b, list, "valueBefore", json_string(value));
	value_text(o->after, o->data_len, value);
	json_put(b, list, "valueAfter", json_string(value));
	if (r->verdict)
		json_put(b, list, "verdict", json_string(r->verdict));
	return list;
}

static json_t *suppressions(struct json_builder *b, const char *reason)
{
	json_t *list = json_array(), *o = json_object();

	json_put(b, o, "kind", json_string("external"));
	json_put(b, o, "justification", json_clean(reason, strlen(reason)));
	json_append(b, list, o);
	return list;
}

static json_t *result(struct json_builder *b, const struct export_race *r)
{
	json_t *o = json_object(), *locations = json_array(), *fingerprints = json_object();
	char title[EXPORT_TITLE_MAX], text[EXPORT_TITLE_MAX + 1024];

	export_title(r->race, title);
	snprintf(text, sizeof(text), "Data race: %s%s%.900s", title, r->evidence ? ". " : "", r->evidence ? r->evidence : "");
	json_put(b, o, "ruleId", json_string(rule_of(r)));
	json_put(b, o, "level", json_string(level(r)));
	json_put(b, o, "message", message(b, text));
	json_append(b, locations, location(b, r->race, 0));
	json_put(b, o, "locations", locations);
	if (r->race->first.sides[1].known) {
		json_t *related = json_array(), *other = location(b, r->race, 1);

		json_put(b, other, "message", message(b, "the access in between"));
		json_append(b, related, other);
		json_put(b, o, "relatedLocations", related);
	}
	json_put(b, o, "stacks", stacks(b, r->race));
	json_put(b, fingerprints, "outriderRace/v1", json_string(r->race->id));
	json_put(b, o, "partialFingerprints", fingerprints);
	json_put(b, o, "occurrenceCount", json_integer((json_int_t)(r->race->count > INT32_MAX ? INT32_MAX : r->race->count)));
	if (r->suppression)
		json_put(b, o, "suppressions", suppressions(b, r->suppression));
	json_put(b, o, "properties", properties(b, r));
	return o;
}

static bool has_rule(const json_t *rules, const char *id)
{
	for (size_t i = 0; i < json_array_size(rules); i++) {
		if (strcmp(json_string_value(json_object_get(json_array_get(rules, i), "id")), id) == 0)
			return true;
	}
	return false;
}

/* Section 3.19.23: every rule that a result names, once each. */
static json_t *rules(struct json_builder *b, const struct export_run *run)
{
	json_t *list = json_array();

	for (size_t i = 0; i < run->count; i++) {
		json_t *rule;

		if (has_rule(list, rule_of(&run->races[i])))
			continue;
		rule = json_object();
		json_put(b, rule, "id", json_string(rule_of(&run->races[i])));
		json_append(b, list, rule);
	}
	return list;
}

static json_t *tool(struct json_builder *b, const struct export_run *run)
{
	json_t *o = json_object(), *driver = json_object();

	json_put(b, driver, "name", json_string("outrider"));
	json_put(b, driver, "version", json_string(run->tool_version));
	json_put(b, driver, "rules", rules(b, run));
	json_put(b, o, "driver", driver);
	return o;
}

static json_t *document(struct json_builder *b, const struct export_run *run)
{
	json_t *o = json_object(), *runs = json_array(), *one = json_object(), *results = json_array();

	json_put(b, o, "$schema", json_string("https://json.schemastore.org/sarif-2.1.0.json"));
	json_put(b, o, "version", json_string("2.1.0"));
	json_put(b, one, "tool", tool(b, run));
	for (size_t i = 0; i < run->count; i++)
		json_append(b, results, result(b, &run->races[i]));
	json_put(b, one, "results", results);
	json_put(b, one, "columnKind", json_string("utf16CodeUnits"));
	if (run->kernel) {
		json_t *bag = json_object();

		json_put(b, bag, "kernel", json_clean(run->kernel, strlen(run->kernel)));
		json_put(b, one, "properties", bag);
	}
	json_append(b, runs, one);
	json_put(b, o, "runs", runs);
	return o;
}

int export_sarif(FILE *out, const struct export_run *run, struct err *err)
{
	struct json_builder b = {0};
	json_t *o = document(&b, run);
	int rc = 0;

	if (b.failed)
		rc = err_set(err, EXIT_INTERNAL, "out of memory while exporting");
	else if (json_dumpf(o, out, JSON_INDENT(1)) == 0)
		fputc('\n', out);
	json_decref(o);
	return rc;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes races in the Static Analysis Results Interchange Format (SARIF) 2.1.0 (OASIS, 2020). Section numbers in this file
 * refer to this standard. The optional properties are those that GitHub's code scanning requires (docs.github.com, "SARIF
 * support for code scanning").
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/shell_word.h"
#include "hv/export/sarif_place.h"
#include "hv/export/sarif_suspicions.h"
#include "hv/race/race_key.h"
#include "hv/report/words.h"

#define RULE_TEXT_MAX 1024

/* The values of a result's "level", section 3.27.10. */
static const char *const level_words[] = {[EXPORT_HARMFUL] = "error", [EXPORT_UNSURE] = "warning", [EXPORT_BENIGN] = "note"};

/* The rule of races without a verdict. In the document, it comes after the rules of rule_table[]. */
static const struct rule unjudged = {
	.name = "data-race",
	.class = VERDICT_UNCLEAR,
	.help =
		{
			.found = "Two accesses race.",
			.meaning = "Two CPUs accessed the same memory at the same time, at least one access was a write, and "
				   "not both were "
				   "synchronisation.",
			.next = "Read both accesses with their locks. If the race is intended, mark both accesses with "
				"READ_ONCE() and "
				"WRITE_ONCE(), or with data_race().",
		},
};

/* Returns the races of a group, the lead first. */
static json_t *races(struct json_builder *b, const struct export_run *run, const struct group *group)
{
	json_t *list = json_array();

	for (size_t i = 0; i < group->count; i++) {
		const struct export_race *r = &run->races[group->members[i]];
		json_t *o = json_object();
		struct race_key key;

		race_key(r->race, &key);
		json_put(b, o, "id", json_string(r->race->id));
		json_put(b, o, "identity", json_string(key.identity));
		json_put(b, o, "instances", json_integer((json_int_t)r->race->count));
		if (r->verdict)
			json_put(b, o, "verdict", json_string(r->verdict));
		json_append(b, list, o);
	}
	return list;
}

static json_t *properties(struct json_builder *b, const struct export_run *run, const struct group *group,
			  const struct export_race *r)
{
	const struct observation *o = &r->race->first;
	json_t *list = json_object();
	char value[VALUE_TEXT_MAX];

	json_put(b, list, "group", json_string(group->id));
	json_put(b, list, "races", races(b, run, group));
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

/*
 * Returns the "partialFingerprints", section 3.27.17, by which a service that shows SARIF files finds the same result in an
 * earlier run. A service's own fingerprint is the hash of the primary location's line plus a counter for equal hashes. The
 * group's id (pruner/groups.h) is better: the id is the same in every build of the kernel, and unique within a run.
 */
static json_t *fingerprints(struct json_builder *b, const struct group *group)
{
	json_t *o = json_object();

	json_put(b, o, "primaryLocationLineHash", json_sprintf("%s:1", group->id));
	json_put(b, o, "outriderGroup/v1", json_string(group->id));
	return o;
}

static json_t *result_message(struct json_builder *b, const struct export_race *r)
{
	char title[EXPORT_TITLE_MAX], text[EXPORT_TITLE_MAX + 1024];

	export_title(r->race, title);
	snprintf(text, sizeof(text), "Data race: %s%s%.900s", title, r->evidence ? ". " : "", r->evidence ? r->evidence : "");
	return sarif_message(b, text);
}

/*
 * At most this many of a group's races, beside the lead, become related locations of the result. Code hosts show a few dozen.
 */
#define OTHERS_MAX 50

/* Add to `related` the locations of both accesses of the group's other races. */
static void put_others(struct json_builder *b, json_t *related, const struct export_run *run, const struct group *group)
{
	char text[RACE_ID_MAX + 64];

	for (size_t i = 1; i < group->count && i <= OTHERS_MAX; i++) {
		const struct race *race = run->races[group->members[i]].race;

		for (unsigned which = 0; which < 2; which++) {
			json_t *where;

			if (race->first.sides[which].kind == RACE_SIDE_UNSEEN)
				continue;
			where = sarif_access(b, race, which);
			snprintf(text, sizeof(text), "race %s of the same group, %s", race->id,
				 which ? "the access in between" : "the held access");
			json_put(b, where, "id", json_integer((json_int_t)json_array_size(related) + 1));
			json_put(b, where, "message", sarif_message(b, text));
			json_append(b, related, where);
		}
	}
}

static void put_locations(struct json_builder *b, json_t *o, const struct export_run *run, const struct group *group)
{
	const struct race *race = run->races[group->members[0]].race;
	json_t *locations = json_array(), *related = json_array(), *flows = json_array();
	unsigned primary = export_primary(race);
	int id = 1;

	json_append(b, locations, sarif_access(b, race, primary));
	json_put(b, o, "locations", locations);
	if (race->first.sides[!primary].kind != RACE_SIDE_UNSEEN) {
		json_t *other = sarif_access(b, race, !primary);

		json_put(b, other, "id", json_integer(id++));
		json_put(b, other, "message", sarif_message(b, "the other access"));
		json_append(b, related, other);
	}
	sarif_inlined(b, related, race, primary, &id);
	if (race->first.sides[!primary].kind == RACE_SIDE_CPU)
		sarif_inlined(b, related, race, !primary, &id);
	put_others(b, related, run, group);
	json_put(b, o, "relatedLocations", related);
	json_append(b, flows, sarif_code_flow(b, race));
	json_put(b, o, "codeFlows", flows);
	json_put(b, o, "stacks", sarif_stacks(b, race));
}

/* Returns the result object of a group. It describes the lead. The accesses of the other races are its related locations. */
static json_t *result(struct json_builder *b, const struct export_run *run, const struct group *group)
{
	const struct export_race *r = &run->races[group->members[0]];
	size_t rule = r->rule ? (size_t)(r->rule - rule_table) : RULE_COUNT;
	json_t *o = json_object();

	json_put(b, o, "ruleId", json_string(r->rule ? r->rule->name : unjudged.name));
	json_put(b, o, "ruleIndex", json_integer((json_int_t)rule));
	json_put(b, o, "level", json_string(level_words[r->level]));
	json_put(b, o, "rank", json_integer(r->rank));
	json_put(b, o, "message", result_message(b, r));
	put_locations(b, o, run, group);
	json_put(b, o, "partialFingerprints", fingerprints(b, group));
	json_put(b, o, "occurrenceCount", json_integer((json_int_t)(group->seen > INT32_MAX ? INT32_MAX : group->seen)));
	if (r->suppression)
		json_put(b, o, "suppressions", suppressions(b, r->suppression));
	json_put(b, o, "properties", properties(b, run, group, r));
	return o;
}

/*
 * Returns the properties that code hosts sort and filter by. The precision is never "high": the run observed the race, but the
 * verdict that the race is harmful may be wrong.
 */
static json_t *rule_properties(struct json_builder *b, const struct rule *rule)
{
	static const char *const severity[] = {
		[EXPORT_HARMFUL] = "error", [EXPORT_UNSURE] = "warning", [EXPORT_BENIGN] = "recommendation"};
	json_t *o = json_object(), *tags = json_array();

	json_append(b, tags, json_string("concurrency"));
	json_append(b, tags, json_string("external/cwe/cwe-362"));
	json_put(b, o, "tags", tags);
	json_put(b, o, "precision", json_string(rule->class == VERDICT_HARMFUL ? "medium" : "low"));
	json_put(b, o, "problem.severity", json_string(severity[export_level_of(rule->class)]));
	return o;
}

static json_t *rule_help(struct json_builder *b, const struct rule *rule)
{
	char text[RULE_TEXT_MAX];
	json_t *o;

	snprintf(text, sizeof(text), "%s %s", rule->help.meaning, rule->help.next);
	o = sarif_message(b, text);
	snprintf(text, sizeof(text), "**%s** %s\n\n**What to do:** %s", rule->help.found, rule->help.meaning, rule->help.next);
	json_put(b, o, "markdown", json_string(text));
	return o;
}

/* Returns a reportingDescriptor object, section 3.49. */
static json_t *rule(struct json_builder *b, const struct rule *rule)
{
	json_t *o = json_object(), *configuration = json_object();

	json_put(b, o, "id", json_string(rule->name));
	json_put(b, o, "shortDescription", sarif_message(b, rule->help.found));
	json_put(b, o, "fullDescription", sarif_message(b, rule->help.meaning));
	json_put(b, o, "help", rule_help(b, rule));
	json_put(b, configuration, "level", json_string(level_words[export_level_of(rule->class)]));
	json_put(b, o, "defaultConfiguration", configuration);
	json_put(b, o, "properties", rule_properties(b, rule));
	return o;
}

static json_t *tool(struct json_builder *b, const struct export_run *run)
{
	json_t *o = json_object(), *driver = json_object(), *rules = json_array();

	for (size_t i = 0; i < RULE_COUNT; i++)
		json_append(b, rules, rule(b, &rule_table[i]));
	json_append(b, rules, rule(b, &unjudged));
	json_put(b, driver, "name", json_string("outrider"));
	json_put(b, driver, "version", json_string(run->tool_version));
	json_put(b, driver, "rules", rules);
	json_put(b, o, "driver", driver);
	return o;
}

static bool any_device(const struct export_run *run)
{
	for (size_t i = 0; i < run->count; i++) {
		if (run->races[i].race->first.sides[1].kind == RACE_SIDE_DEVICE)
			return true;
	}
	return false;
}

static void put_text(struct json_builder *b, json_t *o, const char *key, const char *text)
{
	if (text && text[0])
		json_put(b, o, key, json_clean(text, strlen(text)));
}

static void put_number(struct json_builder *b, json_t *o, const char *key, uint64_t number)
{
	if (number)
		json_put(b, o, key, json_integer((json_int_t)number));
}

static json_t *run_properties(struct json_builder *b, const struct run_facts *run)
{
	json_t *o = json_object();

	put_text(b, o, "toolVersion", run->tool_version);
	put_text(b, o, "kernel", run->kernel.banner);
	if (run->kernel.build_id_len)
		json_put(b, o, "kernelBuildId", json_build_id(run->kernel.build_id, run->kernel.build_id_len));
	put_text(b, o, "kernelFile", run->kernel_file);
	put_text(b, o, "kernelCommandLine", run->cmdline);
	put_text(b, o, "sample", run->sample);
	put_text(b, o, "module", run->module);
	json_put(b, o, "seed", json_sprintf("%" PRIu64, run->seed));
	put_number(b, o, "rate", run->rate);
	put_number(b, o, "delayMicroseconds", run->delay_ns / 1000);
	put_number(b, o, "cpus", run->cpus);
	put_number(b, o, "memoryBytes", run->memory);
	json_put(b, o, "sampledSeconds", json_seconds(run->sampled_ns));
	put_text(b, o, "hostKernel", run->host.release);
	put_text(b, o, "hostCpu", run->host.cpu);
	return o;
}

/*
 * Add "arguments" (section 3.20.3), one string for each argument of the command line, and "commandLine" (section 3.20.2), the
 * whole line with the quotes that a shell needs.
 */
static void put_command(struct json_builder *b, json_t *o, const struct run_facts *run)
{
	json_t *words = json_array();
	char *line = NULL;
	size_t len;
	FILE *out = open_memstream(&line, &len);

	if (!out) {
		b->failed = true;
	} else {
		fputs("outrider", out);
		for (size_t i = 0; i < run->option_count; i++) {
			json_append(b, words, json_string(run->options[i]));
			fputc(' ', out);
			shell_word(out, run->options[i], SIZE_MAX);
		}
		b->failed |= fclose(out) != 0;
	}
	json_put(b, o, "arguments", words);
	json_put(b, o, "commandLine", json_string(line));
	free(line);
}

static json_t *complaint_notification(struct json_builder *b, const struct complaint *c)
{
	json_t *o = json_object();
	char text[COMPLAINT_TEXT_MAX + COMPLAINT_PLACE_MAX + 64];

	snprintf(text, sizeof(text), "The guest's kernel complained%s%s: %s", c->where.text[0] ? " in " : "", c->where.text,
		 c->text);
	json_put(b, o, "level", json_string(c->fatal ? "error" : "warning"));
	json_put(b, o, "message", sarif_message(b, text));
	return o;
}

static json_t *doubt_notification(struct json_builder *b, const struct run_facts *run)
{
	json_t *o = json_object();
	char text[RUN_DOUBT_TEXT_MAX];

	run_doubt_text(run, text);
	text[0] = (char)toupper((unsigned char)text[0]);
	json_put(b, o, "level", json_string("error"));
	json_put(b, o, "message", sarif_message(b, text));
	return o;
}

/*
 * Add notifications (section 3.58), which code hosts show beside the results: why a lack of races says nothing about the kernel
 * (enum run_doubt), and what the guest's kernel complained of.
 */
static void put_notifications(struct json_builder *b, json_t *invocation, const struct run_facts *run)
{
	json_t *list;

	if (run_doubt(run) == RUN_SOUND && !run->complaints.count)
		return;
	list = json_array();
	if (run_doubt(run) != RUN_SOUND)
		json_append(b, list, doubt_notification(b, run));
	for (size_t i = 0; i < run->complaints.count; i++)
		json_append(b, list, complaint_notification(b, &run->complaints.list[i]));
	json_put(b, invocation, "toolExecutionNotifications", list);
}

/* Returns an invocation object, section 3.20. */
static json_t *invocation(struct json_builder *b, const struct run_facts *run)
{
	json_t *o = json_object();

	if (run->option_count)
		put_command(b, o, run);
	put_text(b, o, "startTimeUtc", run->started);
	put_text(b, o, "endTimeUtc", run->ended);
	put_text(b, o, "machine", run->host.name);
	put_text(b, o, "exitCodeDescription", run->end);
	json_put(b, o, "executionSuccessful", json_boolean(run_doubt(run) == RUN_SOUND));
	put_notifications(b, o, run);
	json_put(b, o, "properties", run_properties(b, run));
	return o;
}

static json_t *one_run(struct json_builder *b, const struct export_run *run)
{
	json_t *o = json_object(), *invocations = json_array(), *results = json_array();

	json_put(b, o, "tool", tool(b, run));
	for (size_t i = 0; i < run->run_count; i++)
		json_append(b, invocations, invocation(b, &run->runs[i]));
	json_put(b, o, "invocations", invocations);
	json_put(b, o, "originalUriBaseIds", sarif_roots(b, any_device(run)));
	for (size_t i = 0; run->groups && i < run->groups->count; i++)
		json_append(b, results, result(b, run, &run->groups->list[i]));
	json_put(b, o, "results", results);
	json_put(b, o, "columnKind", json_string("utf16CodeUnits"));
	return o;
}

static json_t *document(struct json_builder *b, const struct export_run *run)
{
	json_t *o = json_object(), *runs = json_array(), *races = one_run(b, run);

	json_put(b, o, "$schema", json_string("https://json.schemastore.org/sarif-2.1.0.json"));
	json_put(b, o, "version", json_string("2.1.0"));
	json_append(b, runs, races);
	if (run->locks)
		json_append(b, runs, sarif_suspicions(b, run, json_object_get(races, "invocations")));
	json_put(b, o, "runs", runs);
	return o;
}

int export_sarif(FILE *out, const struct export_run *run, struct err *err)
{
	struct json_builder b = {0};

	return json_document_write(out, &b, document(&b, run), err);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes suspicions as results of SARIF 2.1.0 (OASIS, 2020). Section numbers in this file refer to this standard. */
#include "hv/export/sarif_suspicions.h"

#include "hv/export/sarif_place.h"

static const char *const suspicion_rules[][3] = {
	[SUSPICION_UNPROTECTED] =
		{"suspicion-unprotected", "A lock that protects a datum elsewhere is missing here.",
		 "No common lock orders the two accesses, and their functions can run at the same time. They were not seen "
		 "in conflict. Check whether something else orders them, and take the lock if nothing does."},
	[SUSPICION_INTERRUPT] = {"suspicion-interrupt", "A lock that an interrupt takes is taken with interrupts on.",
				 "If the interrupt comes on the CPU that holds the lock, its handler waits forever. Take the "
				 "lock with this kind "
				 "of interrupt off."},
	[SUSPICION_ATOMICITY] = {"suspicion-atomicity", "Two critical sections do what must be one step.",
				 "Every access holds the lock, but the function releases it in between, and another section "
				 "can come there. Keep "
				 "the lock, or check again in the second section."},
};

/* Append a step at this site to a thread flow's locations. `order`: the step's number in the execution, from 1. 0: unknown. */
static void add_step(struct json_builder *b, json_t *steps, const char *site, const char *words, unsigned order)
{
	json_t *step = json_object(), *where = sarif_site(b, site);

	json_put(b, where, "message", sarif_message(b, words));
	json_put(b, step, "location", where);
	if (order)
		json_put(b, step, "executionOrder", json_integer(order));
	json_append(b, steps, step);
}

static void add_thread(struct json_builder *b, json_t *threads, json_t *steps)
{
	json_t *thread = json_object();

	json_put(b, thread, "locations", steps);
	json_append(b, threads, thread);
}

/* Add one thread flow for each side. The last flow is that of site[1], which is also the location of the result. */
static void add_sides(struct json_builder *b, const struct chart_suspicion *c, json_t *threads)
{
	static const char *const words[] = {"the access under the lock", "the access without it"};

	for (unsigned i = 0; i < 2; i++) {
		json_t *steps = json_array();

		add_step(b, steps, c->site[i], c->suspicion.kind == SUSPICION_INTERRUPT ? c->site[i] : words[i], 0);
		add_thread(b, threads, steps);
	}
}

/*
 * Add the two thread flows of an atomicity suspicion: one with both critical sections of the function, and one with the
 * critical section that comes in between.
 */
static void add_sections(struct json_builder *b, const struct chart_suspicion *c, json_t *threads)
{
	json_t *two = json_array(), *between = json_array();

	add_step(b, two, c->site[0], "the access in the first section", 1);
	add_step(b, between, c->between, "the access in the section in between", 2);
	add_step(b, two, c->site[1], "the access in the second section", 3);
	add_thread(b, threads, two);
	add_thread(b, threads, between);
}

/* Returns a list with one code flow (section 3.36), which has the thread flows of all sides. */
static json_t *flows(struct json_builder *b, const struct chart_suspicion *c)
{
	json_t *list = json_array(), *flow = json_object(), *threads = json_array();

	if (c->suspicion.kind == SUSPICION_ATOMICITY)
		add_sections(b, c, threads);
	else
		add_sides(b, c, threads);
	json_put(b, flow, "threadFlows", threads);
	json_append(b, list, flow);
	return list;
}

/*
 * Returns the "partialFingerprints" (sarif.c explains them): the suspicion's identity, and a number that tells the suspicions
 * of one identity apart.
 */
static json_t *fingerprints(struct json_builder *b, const struct chart_suspicion *c)
{
	json_t *o = json_object();

	json_put(b, o, "primaryLocationLineHash", json_sprintf("%s:%u", c->identity, c->nth));
	json_put(b, o, "outriderSuspicion/v2", json_sprintf("%s:%u", c->identity, c->nth));
	return o;
}

/*
 * Returns a result of kind "review" (section 3.27.9), since only a person can tell whether the suspicion is a defect. Such a
 * result has level "none".
 */
static json_t *suspicion_result(struct json_builder *b, const struct chart_suspicion *c)
{
	const struct suspicion *s = &c->suspicion;
	json_t *o = json_object(), *locations = json_array(), *related = json_array();
	json_t *other = sarif_site(b, c->site[0]);

	json_put(b, o, "ruleId", json_string(suspicion_rules[s->kind][0]));
	json_put(b, o, "ruleIndex", json_integer((json_int_t)s->kind));
	json_put(b, o, "kind", json_string("review"));
	json_put(b, o, "level", json_string("none"));
	json_put(b, o, "rank", json_integer(s->rank < 0 ? 0 : s->rank > 99 ? 99 : s->rank));
	json_put(b, o, "message", sarif_message(b, s->text));
	json_append(b, locations, sarif_site(b, c->site[1]));
	json_put(b, o, "locations", locations);
	json_put(b, other, "id", json_integer(1));
	json_put(b, other, "message", sarif_message(b, "the other access"));
	json_append(b, related, other);
	json_put(b, o, "relatedLocations", related);
	json_put(b, o, "codeFlows", flows(b, c));
	json_put(b, o, "partialFingerprints", fingerprints(b, c));
	return o;
}

static json_t *rule_help(struct json_builder *b, const char *const words[3])
{
	json_t *o = sarif_message(b, words[2]);

	json_put(b, o, "markdown", json_sprintf("**%s** %s", words[1], words[2]));
	return o;
}

static json_t *rule(struct json_builder *b, const char *const words[3])
{
	json_t *o = json_object(), *configuration = json_object(), *properties = json_object(), *tags = json_array();

	json_put(b, o, "id", json_string(words[0]));
	json_put(b, o, "shortDescription", sarif_message(b, words[1]));
	json_put(b, o, "fullDescription", sarif_message(b, words[2]));
	json_put(b, o, "help", rule_help(b, words));
	json_put(b, configuration, "level", json_string("none"));
	json_put(b, o, "defaultConfiguration", configuration);
	json_append(b, tags, json_string("concurrency"));
	json_put(b, properties, "tags", tags);
	json_put(b, properties, "precision", json_string("low"));
	json_put(b, properties, "problem.severity", json_string("recommendation"));
	json_put(b, o, "properties", properties);
	return o;
}

static json_t *suspicion_tool(struct json_builder *b, const struct export_run *run)
{
	json_t *o = json_object(), *driver = json_object(), *rules = json_array();

	for (size_t i = 0; i < sizeof(suspicion_rules) / sizeof(suspicion_rules[0]); i++)
		json_append(b, rules, rule(b, suspicion_rules[i]));
	json_put(b, driver, "name", json_string("outrider"));
	json_put(b, driver, "version", json_string(run->tool_version));
	json_put(b, driver, "rules", rules);
	json_put(b, o, "driver", driver);
	return o;
}

json_t *sarif_suspicions(struct json_builder *b, const struct export_run *run, json_t *invocations)
{
	json_t *o = json_object(), *results = json_array(), *details = json_object();

	json_put(b, o, "tool", suspicion_tool(b, run));
	json_put(b, details, "id", json_string("outrider/suspicions"));
	json_put(b, o, "automationDetails", details);
	json_put(b, o, "invocations", json_incref(invocations));
	json_put(b, o, "originalUriBaseIds", sarif_roots(b, false));
	for (size_t i = 0; i < run->locks->suspicion_count; i++)
		json_append(b, results, suspicion_result(b, &run->locks->suspicions[i]));
	json_put(b, o, "results", results);
	json_put(b, o, "columnKind", json_string("utf16CodeUnits"));
	return o;
}

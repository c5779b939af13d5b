// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the document around the list of races: the run before the list, and kernel, modules and summary after it. */
#include "hv/report/json/document.h"

#include <stdlib.h>
#include <string.h>

#include "hv/report/json/complaint_json.h"
#include "hv/report/json/write.h"

/* Returns a printable string, or null for NULL. */
static json_t *text_json(const char *text)
{
	return text ? json_clean(text, strlen(text)) : json_null();
}

/* Returns a time as a string, or null if it is unknown. */
static json_t *time_json(const char *time)
{
	return time[0] ? json_string(time) : json_null();
}

/* Returns the host as an object, or null if it is unknown, as in a report of an older version. */
static json_t *host_json(const struct run_host *h)
{
	if (!h->name)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:I}", "name", text_json(h->name), "kernel", text_json(h->release), "cpu",
			 text_json(h->cpu), "cpus", (json_int_t)h->cpus);
}

/*
 * Maximum number of bytes of the command line that are recorded. The host's kernel allows up to 6 MiB, and each byte can take
 * four characters when made printable: a reader would need 24 MiB.
 */
#define OPTIONS_MAX (1u << 20)

static json_t *options_json(struct json_builder *b, const struct run_facts *run)
{
	json_t *list = json_array();
	size_t used = 0;

	for (size_t i = 0; i < run->option_count; i++) {
		used += strlen(run->options[i]) + 1;
		if (used > OPTIONS_MAX) {
			json_append(b, list, json_string("..."));
			break;
		}
		json_t *word = run->options[i][0] ? text_json(run->options[i]) : json_string("");

		json_append(b, list, word);
	}
	return list;
}

static json_t *run_json(const struct run_facts *run)
{
	struct json_builder b = {0};
	json_t *o = json_object();

	json_put(&b, o, "started", time_json(run->started));
	json_put(&b, o, "host", host_json(&run->host));
	json_put(&b, o, "options", options_json(&b, run));
	json_put(&b, o, "kernel_file", text_json(run->kernel_file));
	json_put(&b, o, "cmdline", text_json(run->cmdline));
	json_put(&b, o, "sample", text_json(run->sample));
	json_put(&b, o, "module", text_json(run->module));
	json_put(&b, o, "seed", json_sprintf("%llu", (unsigned long long)run->seed));
	json_put(&b, o, "rate", json_integer(run->rate));
	json_put(&b, o, "overhead_percent", run->overhead_percent ? json_integer(run->overhead_percent) : json_null());
	json_put(&b, o, "delay_us", json_whole(run->delay_ns / 1000));
	json_put(&b, o, "duration_s", run->duration_ns ? json_seconds(run->duration_ns) : json_null());
	json_put(&b, o, "cpus", json_integer(run->cpus));
	json_put(&b, o, "memory", json_whole(run->memory));
	json_put(&b, o, "sandbox",
		 run->sandbox == RUN_SANDBOX_UNKNOWN ? json_null() : json_boolean(run->sandbox == RUN_SANDBOX_ON));
	if (!b.failed)
		return o;
	json_decref(o);
	return NULL;
}

/* Returns the object's text without its closing brace, so that the list of races can follow as a member. */
static char *open_object(json_t *object)
{
	char *text = object ? json_dumps(object, JSON_REAL_PRECISION(12)) : NULL;

	json_decref(object);
	if (text)
		text[strlen(text) - 1] = '\0';
	return text;
}

char *document_head(const struct run_facts *run)
{
	char *text = open_object(json_pack("{s:s, s:s, s:o}", "schema", DOCUMENT_SCHEMA, "tool_version", run->tool_version,
					   "run", run_json(run)));
	char *head = NULL;

	if (text && asprintf(&head, "%s,\n\"races\": [", text) < 0)
		head = NULL;
	free(text);
	return head;
}

const char *document_names_word(bool debug_files)
{
	return debug_files ? "debug files" : "guest's tables";
}

static json_t *kernel_json(const struct run_kernel *k)
{
	if (!k->banner)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:s}", "banner", text_json(k->banner), "slide", json_hex(k->slide), "symbols",
			 text_json(k->symbols), "build_id", json_build_id(k->build_id, k->build_id_len), "names",
			 document_names_word(k->debug_files));
}

static json_t *counters_json(const struct detect_stats *s)
{
	const struct {
		const char *name;
		uint64_t value;
	} counters[] = {
		{"sites", s->sites},
		{"armed", s->armed},
		{"armed_most", s->armed_most},
		{"planted", s->planted},
		{"passed", s->executed},
		{"stale_points", s->stale},
		{"passed_over", s->passed_over},
		{"steered", s->steered},
		{"steered_first", s->steered_first},
		{"steered_hits", s->steered_hits},
		{"steered_windows", s->steered_windows},
		{"steered_conflicts", s->steered_conflicts},
		{"talks", s->talks},
		{"talking_sites", s->talking_sites},
		{"retired_sites", s->retired_sites},
		{"arming_us", s->arming_ns / 1000},
		{"asked_rate", s->asked_rate},
		{"hits", s->hits},
		{"windows", s->windows},
		{"get_windows", s->get_windows},
		{"stale_hits", s->stale_hits},
		{"skipped_stack", s->skipped_stack},
		{"skipped_memory", s->skipped_memory},
		{"skipped_short", s->skipped_short},
		{"skipped_count", s->skipped_count},
		{"skipped_last", s->skipped_last},
		{"skipped_cost", s->skipped_cost},
		{"skipped_held", s->skipped_held},
		{"callees", s->callees},
		{"callee_hits", s->callee_hits},
		{"skipped_caller", s->skipped_caller},
		{"passes", s->emulated},
		{"cut_short", s->cut_short},
		{"cut_idle", s->cut_idle},
		{"cut_turn", s->cut_turn},
		{"section_holds", s->section_holds},
		{"section_holds_met", s->section_holds_met},
		{"no_watch", s->no_watch},
		{"conflicts", s->conflicts},
		{"device_conflicts", s->device_conflicts},
		{"device_windows", s->device_windows},
		{"device_held_us", s->device_held_ns / 1000},
		{"device_unseen", s->device_unseen},
		{"ring_accesses", s->ring_accesses},
		{"lost", s->lost},
		{"stacks", s->stacks},
		{"stacks_unwound", s->stacks_unwound},
		{"refused", s->refused},
		{"exits", s->target.exits},
		{"debug_exits", s->target.debug_exits},
		{"stale_exits", s->target.stale_exits},
		{"kicks", s->target.kicks},
		{"ioctls", s->target.ioctls},
		{"stopped_us", s->target.stopped_ns / 1000},
		{"lost_us", s->target.lost_ns / 1000},
		{"still_us", s->target.still_ns / 1000},
		{"reinjected", s->target.reinjected},
	};
	json_t *o = json_pack("{s:o}", "seconds", json_seconds(s->sampling_ns));

	for (size_t i = 0; o && i < sizeof(counters) / sizeof(*counters); i++) {
		if (json_object_set_new(o, counters[i].name, json_whole(counters[i].value)) == 0)
			continue;
		json_decref(o);
		o = NULL;
	}
	return o;
}

/* Returns the histogram's non-empty buckets as a list, each with its exclusive upper bound in ns. */
static json_t *buckets_json(const struct histogram *h)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (h->bucket[i])
			json_array_append_new(list,
					      json_pack("[o, o]", json_whole(UINT64_C(1) << i), json_whole(h->bucket[i])));
	}
	return list;
}

static json_t *phases_json(const struct detect_stats *s)
{
	static const char *const names[WINDOW_PHASES] = {[WINDOW_LOCK] = "lock",
							 [WINDOW_OPEN] = "open",
							 [WINDOW_WATCH] = "watch",
							 [WINDOW_HELD] = "held",
							 [WINDOW_CLOSE] = "close"};
	json_t *o = json_object();

	for (unsigned i = 0; i < WINDOW_PHASES; i++) {
		const struct histogram *h = &s->phase[i];

		json_object_set_new(o, names[i],
				    json_pack("{s:o, s:o, s:o}", "count", json_whole(h->count), "sum_ns", json_whole(h->sum_ns),
					      "below_ns", buckets_json(h)));
	}
	return o;
}

static json_t *summary_json(const struct run_facts *run, const struct detect_stats *s)
{
	json_t *o = json_pack("{s:o, s:o}", "end", text_json(run->end), "ended", time_json(run->ended));

	if (!s || !o)
		return o;
	json_t *sampling = counters_json(s);

	if (json_object_set_new(sampling, "phases", phases_json(s)) == 0 && json_object_set_new(o, "sampling", sampling) == 0)
		return o;
	json_decref(o);
	return NULL;
}

char *document_tail(const struct run_facts *run, const struct report_modules *modules, const struct detect_stats *stats,
		    const char *locks, json_t *groups)
{
	json_t *object = json_pack("{s:o, s:o, s:o, s:O?, s:b, s:b, s:o}", "kernel", kernel_json(&run->kernel), "modules",
				   report_modules_json(modules), "complaints", complaints_json(&run->complaints), "groups",
				   groups, "complete", (int)run->finished, "judged", (int)run->judged, "summary",
				   run->finished ? summary_json(run, stats) : json_null());
	char *text = object ? json_dumps(object, JSON_REAL_PRECISION(12)) : NULL;
	char *tail = NULL;

	/* Omit the object's opening brace, text[0]: document_head() has written it. */
	if (text && asprintf(&tail, "\n],\n%s%s%s%s\n", locks ? "\"locks\": " : "", locks ? locks : "", locks ? ",\n" : "",
			     text + 1) < 0)
		tail = NULL;
	free(text);
	json_decref(object);
	return tail;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/report/json/document.h"

#include <stdlib.h>
#include <string.h>

#include "hv/report/json/write.h"

/* A string of ours or of the guest's; null for NULL. */
static json_t *text_json(const char *text)
{
	return text ? json_clean(text, strlen(text)) : json_null();
}

static json_t *run_json(const struct report_config *c)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I}", "kernel_file", text_json(c->kernel_file), "cmdline",
			 text_json(c->cmdline), "sample", text_json(c->sample), "module", text_json(c->module), "seed",
			 json_sprintf("%llu", (unsigned long long)c->seed), "rate", (json_int_t)c->rate, "delay_us",
			 (json_int_t)(c->delay_ns / 1000), "cpus", (json_int_t)c->cpus, "memory", (json_int_t)c->memory);
}

/* The object's text up to and without its closing brace. */
static char *open_object(json_t *object)
{
	char *text = object ? json_dumps(object, JSON_REAL_PRECISION(12)) : NULL;

	json_decref(object);
	if (text)
		text[strlen(text) - 1] = '\0';
	return text;
}

char *document_head(const struct report_config *config)
{
	char *text = open_object(json_pack("{s:s, s:s, s:o}", "schema", DOCUMENT_SCHEMA, "tool_version", config->tool_version,
					   "run", run_json(config)));
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

static json_t *kernel_json(const struct document_kernel *k)
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
		{"hits", s->hits},
		{"windows", s->windows},
		{"stale_hits", s->stale_hits},
		{"skipped_stack", s->skipped_stack},
		{"skipped_memory", s->skipped_memory},
		{"skipped_short", s->skipped_short},
		{"skipped_last", s->skipped_last},
		{"cut_short", s->cut_short},
		{"cut_idle", s->cut_idle},
		{"no_watch", s->no_watch},
		{"conflicts", s->conflicts},
		{"lost", s->lost},
		{"stacks", s->stacks},
		{"stacks_unwound", s->stacks_unwound},
		{"refused", s->refused},
		{"exits", s->target.exits},
		{"debug_exits", s->target.debug_exits},
		{"stale_exits", s->target.stale_exits},
		{"kicks", s->target.kicks},
		{"ioctls", s->target.ioctls},
		{"reinjected", s->target.reinjected},
	};
	json_t *o = json_pack("{s:o}", "seconds", json_seconds(s->sampling_ns));

	for (size_t i = 0; o && i < sizeof(counters) / sizeof(*counters); i++) {
		if (json_object_set_new(o, counters[i].name, json_integer((json_int_t)counters[i].value)) == 0)
			continue;
		json_decref(o);
		o = NULL;
	}
	return o;
}

static json_t *summary_json(const struct detect_stats *s, const char *end)
{
	json_t *o = json_pack("{s:o}", "end", text_json(end));

	if (!s || !o)
		return o;
	json_t *sampling = counters_json(s);

	if (json_object_set_new(o, "sampling", sampling) == 0)
		return o;
	json_decref(o);
	return NULL;
}

char *document_tail(const struct document_kernel *kernel, const struct report_modules *modules,
		    const struct detect_stats *stats, const char *end)
{
	json_t *object =
		json_pack("{s:o, s:o, s:b, s:o}", "kernel", kernel_json(kernel), "modules", report_modules_json(modules),
			  "complete", end != NULL, "summary", end ? summary_json(stats, end) : json_null());
	char *text = object ? json_dumps(object, JSON_REAL_PRECISION(12)) : NULL;
	char *tail = NULL;

	/* The object's own opening brace is the head's. */
	if (text && asprintf(&tail, "\n],\n%s\n", text + 1) < 0)
		tail = NULL;
	free(text);
	json_decref(object);
	return tail;
}

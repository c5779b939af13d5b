// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the document around the list of races: the run, the kernel and the summary. */
#include "hv/report/json/document.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/report/json/complaint_json.h"
#include "hv/report/json/read.h"

/* Returns a printable string; NULL for null, for a missing member, and on error. */
static char *read_text(struct json_reader *r, const json_t *object, const char *key)
{
	char *text;

	if (!json_read_optional(object, key))
		return NULL;
	text = clean_copy(json_read_string(r, object, key), SIZE_MAX);
	if (!text)
		json_read_wrong(r, key, "small enough for the memory there is");
	return text;
}

static void read_time(struct json_reader *r, const json_t *object, const char *key, char out[RUN_TIME_MAX])
{
	const char *text;

	if (!json_read_optional(object, key))
		return;
	text = json_read_string(r, object, key);
	if (run_time_valid(text))
		memcpy(out, text, RUN_TIME_MAX);
	else
		json_read_wrong(r, key, "a time such as \"2026-11-22T07:36:55.123Z\"");
}

static uint64_t read_number(struct json_reader *r, const json_t *object, const char *key, uint64_t max)
{
	return json_read_optional(object, key) ? json_read_number(r, object, key, max) : 0;
}

static uint64_t read_seconds(struct json_reader *r, const json_t *object, const char *key)
{
	return json_read_optional(object, key) ? json_read_seconds(r, object, key) : 0;
}

/* Read the seed from a string, since JSON numbers do not preserve 64 bits. */
static uint64_t read_seed(struct json_reader *r, const json_t *run)
{
	const char *text;
	uint64_t seed;

	if (!json_read_optional(run, "seed"))
		return 0;
	text = json_read_string(r, run, "seed");
	errno = 0;
	seed = strtoull(text, NULL, 10);
	if (!text[0] || text[strspn(text, "0123456789")] || errno)
		json_read_wrong(r, "seed", "a string of digits for a number of at most 64 bits");
	return seed;
}

static void read_options(struct json_reader *r, const json_t *run, struct run_facts *out)
{
	const json_t *list;
	const char **options;

	if (!json_read_optional(run, "options"))
		return;
	list = json_read_array(r, run, "options", SIZE_MAX);
	options = calloc(json_array_size(list) + 1, sizeof(*options));
	out->options = options;
	for (size_t i = 0; options && i < json_array_size(list); i++) {
		const char *text = json_string_value(json_array_get(list, i));
		char *word = text ? clean_copy(text, SIZE_MAX) : NULL;

		if (!word) {
			json_read_wrong(r, "options", "a list of strings");
			return;
		}
		options[out->option_count++] = word;
	}
	if (!options)
		json_read_wrong(r, "options", "small enough for the memory there is");
}

static void read_host(struct json_reader *r, const json_t *run, struct run_host *out)
{
	const json_t *host;

	if (!json_read_optional(run, "host"))
		return;
	host = json_read_object(r, run, "host");
	out->name = read_text(r, host, "name");
	out->release = read_text(r, host, "kernel");
	out->cpu = read_text(r, host, "cpu");
	out->cpus = (unsigned)read_number(r, host, "cpus", UINT32_MAX);
}

static void read_run(struct json_reader *r, const json_t *document, struct run_facts *out)
{
	const json_t *run;

	if (!json_read_optional(document, "run"))
		return;
	run = json_read_object(r, document, "run");
	read_time(r, run, "started", out->started);
	read_host(r, run, &out->host);
	read_options(r, run, out);
	out->kernel_file = read_text(r, run, "kernel_file");
	out->cmdline = read_text(r, run, "cmdline");
	out->sample = read_text(r, run, "sample");
	out->module = read_text(r, run, "module");
	out->seed = read_seed(r, run);
	out->rate = (unsigned)read_number(r, run, "rate", UINT32_MAX);
	out->overhead_percent = (unsigned)read_number(r, run, "overhead_percent", 100);
	out->delay_ns = read_number(r, run, "delay_us", INT64_MAX / 1000) * 1000;
	out->duration_ns = read_seconds(r, run, "duration_s");
	out->cpus = (unsigned)read_number(r, run, "cpus", UINT32_MAX);
	out->memory = read_number(r, run, "memory", INT64_MAX);
	if (json_read_optional(run, "sandbox"))
		out->sandbox = json_read_bool(r, run, "sandbox") ? RUN_SANDBOX_ON : RUN_SANDBOX_OFF;
}

static void read_kernel(struct json_reader *r, const json_t *document, struct run_kernel *out)
{
	const json_t *o;

	if (!json_read_optional(document, "kernel"))
		return;
	o = json_read_object(r, document, "kernel");
	out->banner = read_text(r, o, "banner");
	out->symbols = read_text(r, o, "symbols");
	out->slide = json_read_hex(r, o, "slide");
	out->debug_files =
		json_read_optional(o, "names") && strcmp(json_read_string(r, o, "names"), document_names_word(true)) == 0;
	if (json_read_optional(o, "build_id"))
		out->build_id_len = json_read_bytes(r, o, "build_id", out->build_id, sizeof(out->build_id));
}

static void read_end(struct json_reader *r, const json_t *document, struct run_facts *out)
{
	const json_t *summary, *sampling;

	out->finished = json_read_optional(document, "complete") && json_read_bool(r, document, "complete");
	out->judged = json_read_optional(document, "judged") && json_read_bool(r, document, "judged");
	if (!json_read_optional(document, "summary"))
		return;
	summary = json_read_object(r, document, "summary");
	out->end = read_text(r, summary, "end");
	read_time(r, summary, "ended", out->ended);
	if (!json_read_optional(summary, "sampling"))
		return;
	sampling = json_read_object(r, summary, "sampling");
	out->sampled_ns = read_seconds(r, sampling, "seconds");
	out->hits = read_number(r, sampling, "hits", INT64_MAX);
	out->windows = read_number(r, sampling, "windows", INT64_MAX);
}

int document_read(const json_t *document, const char *path, struct run_facts *out, struct err *err)
{
	struct json_reader r = {.what = path, .err = err};

	*out = (struct run_facts){0};
	out->tool_version = read_text(&r, document, "tool_version");
	read_run(&r, document, out);
	read_kernel(&r, document, &out->kernel);
	read_end(&r, document, out);
	complaints_read(&r, document, &out->complaints);
	if (!r.failed)
		return 0;
	run_facts_free(out);
	return -1;
}

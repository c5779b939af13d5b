// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a file that --coverage wrote, the coverage of one function at a time. */
#include "hv/report/coverage/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/report/coverage/site.h"
#include "hv/report/coverage/write.h"
#include "hv/report/json/read.h"
#include "hv/report/json/stream.h"

struct reading {
	const char *path;
	struct json_stream *in;
	const struct coverage_taker *taker;
	/* The members of the document, except for the list of functions. */
	json_t *document;
	struct coverage_function function;
	size_t functions;
	bool listed;
};

static uint64_t seed_of(struct json_reader *r, const json_t *document)
{
	const char *text = json_read_string(r, document, "seed");
	unsigned long long seed;
	char end;

	if (strspn(text, "0123456789") != strlen(text) || sscanf(text, "%20llu%c", &seed, &end) != 1) {
		json_read_wrong(r, "seed", "a number as text");
		return 0;
	}
	return seed;
}

static int take_summary(struct reading *g, struct err *err)
{
	struct json_reader r = {.what = g->path, .err = err};
	struct coverage_summary s = {0};
	const json_t *totals;

	if (strcmp(json_read_string(&r, g->document, "schema"), COVERAGE_SCHEMA) != 0 && !r.failed)
		json_read_wrong(&r, "schema", COVERAGE_SCHEMA);
	totals = json_read_object(&r, g->document, "totals");
	json_read_text(&r, g->document, "build_id", s.build_id, sizeof(s.build_id));
	s.complete = json_read_bool(&r, g->document, "complete");
	s.seed = seed_of(&r, g->document);
	s.pool_sites = json_read_number(&r, totals, "pool_sites", INT64_MAX);
	s.hits = json_read_number(&r, totals, "hits", INT64_MAX);
	s.windows = json_read_number(&r, totals, "windows", INT64_MAX);
	s.conflicts = json_read_number(&r, totals, "conflicts", INT64_MAX);
	s.sampled_ns = json_read_seconds(&r, totals, "sampled_s");
	return r.failed ? -1 : g->taker->summary(g->taker->ctx, &s, err);
}

/* Read a count. A missing count means 0. */
static uint32_t count_of(struct json_reader *r, const json_t *site, const char *key)
{
	return json_object_get(site, key) ? (uint32_t)json_read_number(r, site, key, UINT32_MAX) : 0;
}

static void read_site(struct json_reader *r, const json_t *object, const char *function, struct coverage_site *site)
{
	char name[SITE_NAME_MAX], of[SITE_NAME_MAX];

	json_read_text(r, object, "site", name, sizeof(name));
	if (!r->failed && (!site_split(name, of, &site->offset) || strcmp(of, function) != 0))
		json_read_wrong(r, "site", "a site of its function");
	site->counts.armed = count_of(r, object, "armed");
	site->counts.hits = count_of(r, object, "hits");
	site->counts.windows = count_of(r, object, "windows");
	site->counts.conflicts = count_of(r, object, "conflicts");
	site->counts.talks = count_of(r, object, "talks");
}

static int make_room(struct coverage_function *fn, size_t count)
{
	struct coverage_site *armed = count > fn->room ? realloc(fn->armed, count * sizeof(*armed)) : fn->armed;

	if (count && !armed)
		return -1;
	fn->armed = armed;
	fn->room = count > fn->room ? count : fn->room;
	return 0;
}

static int take_function(struct reading *g, const json_t *object, struct err *err)
{
	struct coverage_function *fn = &g->function;
	char what[256];
	struct json_reader r = {.what = what, .err = err};
	const json_t *sites;

	snprintf(what, sizeof(what), "%.200s: function %zu", g->path, ++g->functions);
	json_read_text(&r, object, "function", fn->name, sizeof(fn->name));
	fn->sites = (uint32_t)json_read_number(&r, object, "sites", UINT32_MAX);
	sites = json_read_array(&r, object, "armed", UINT32_MAX);
	fn->count = sites ? json_array_size(sites) : 0;
	if (make_room(fn, fn->count))
		return err_set(err, EXIT_INTERNAL, "%s: out of memory", g->path);
	for (size_t i = 0; i < fn->count && !r.failed; i++)
		read_site(&r, json_array_get(sites, i), fn->name, &fn->armed[i]);
	return r.failed ? -1 : g->taker->function(g->taker->ctx, fn, err);
}

static int read_functions(struct reading *g, struct err *err)
{
	if (g->listed)
		return json_stream_wrong(g->in, "a second list of functions", err);
	g->listed = true;
	if (take_summary(g, err) < 0)
		return -1;
	if (!json_stream_take(g->in, '['))
		return json_stream_wrong(g->in, "a list of functions expected", err);
	if (json_stream_take(g->in, ']'))
		return 0;
	do {
		json_t *function = json_stream_value(g->in, err);
		int rc = function ? take_function(g, function, err) : -1;

		json_decref(function);
		if (rc < 0)
			return -1;
	} while (json_stream_take(g->in, ','));
	return json_stream_take(g->in, ']') ? 0 : json_stream_wrong(g->in, "',' or ']' expected", err);
}

static int read_member(struct reading *g, struct err *err)
{
	json_t *key = json_stream_value(g->in, err), *value;
	int rc = -1;

	if (!key)
		return -1;
	if (!json_is_string(key) || !json_stream_take(g->in, ':')) {
		json_stream_wrong(g->in, "a key and ':' expected", err);
	} else if (strcmp(json_string_value(key), "functions") == 0) {
		rc = read_functions(g, err);
	} else {
		value = json_stream_value(g->in, err);
		rc = value && json_object_set_new(g->document, json_string_value(key), value) == 0 ? 0 : -1;
		if (rc < 0)
			err_set(err, EXIT_INTERNAL, "%s: out of memory", g->path);
	}
	json_decref(key);
	return rc;
}

static int read_document(struct reading *g, struct err *err)
{
	if (!json_stream_take(g->in, '{'))
		return json_stream_wrong(g->in, "'{' expected", err);
	do {
		if (read_member(g, err) < 0)
			return -1;
	} while (json_stream_take(g->in, ','));
	if (!json_stream_take(g->in, '}'))
		return json_stream_wrong(g->in, "',' or '}' expected", err);
	if (!json_stream_at_end(g->in))
		return json_stream_wrong(g->in, "end of file expected", err);
	return g->listed ? 0 : err_set(err, EXIT_INPUT, "%s: no list of functions: it is no file of --coverage", g->path);
}

int coverage_read(const char *path, const struct coverage_taker *taker, struct err *err)
{
	struct reading g = {.path = path, .taker = taker, .document = json_object()};
	int rc = -1;

	if (!g.document)
		err_set(err, EXIT_INTERNAL, "%s: out of memory", path);
	else
		g.in = json_stream_open(path, err);
	if (g.in)
		rc = read_document(&g, err);
	json_stream_close(g.in);
	json_decref(g.document);
	free(g.function.armed);
	return rc;
}

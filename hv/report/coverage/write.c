// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the file of --coverage: the counts of each site. */
#include "hv/report/coverage/write.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/report/json/file.h"
#include "hv/report/json/write.h"

/* Number of functions in one item of the JSON file. */
#define FUNCTIONS_AT_A_TIME 64u

struct coverage_file {
	struct json_file *json;
	/* Arguments of functions_text(): the coverage to write, and a buffer for one function. */
	struct coverage *coverage;
	struct coverage_size size;
	struct coverage_function copy;
};

/* Returns the document up to its list of functions, from malloc(), or NULL if memory runs out. */
static char *head_text(const struct coverage_facts *facts, const struct coverage_size *size)
{
	const struct detect_stats *s = &facts->stats;
	json_t *totals = json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "functions", (json_int_t)size->functions, "sites",
				   (json_int_t)size->sites, "pool_sites", (json_int_t)s->sites, "hits", json_whole(s->hits),
				   "windows", json_whole(s->windows), "conflicts", json_whole(s->conflicts), "sampled_s",
				   json_seconds(s->sampling_ns));
	json_t *object =
		json_pack("{s:s, s:s, s:b, s:o, s:o, s:o}", "schema", COVERAGE_SCHEMA, "tool_version", facts->tool_version,
			  "complete", facts->complete, "seed", json_sprintf("%" PRIu64, facts->seed), "build_id",
			  json_build_id(facts->build_id, facts->build_id_len), "totals", totals);
	char *text = object ? json_dumps(object, JSON_REAL_PRECISION(12)) : NULL, *head = NULL;

	json_decref(object);
	if (text) {
		text[strlen(text) - 1] = '\0';
		if (asprintf(&head, "%s,\n\"functions\": [", text) < 0)
			head = NULL;
	}
	free(text);
	return head;
}

/* Omit a count of 0: most sites are never hit. */
static void put_count(FILE *out, const char *name, uint32_t count)
{
	if (count)
		fprintf(out, ", \"%s\": %" PRIu32, name, count);
}

static int put_function(FILE *out, const struct coverage_function *fn)
{
	json_t *name = json_string(fn->name);
	char *quoted = name ? json_dumps(name, JSON_ENCODE_ANY) : NULL;
	int len = quoted ? (int)strlen(quoted) - 1 : 0;

	json_decref(name);
	if (!quoted)
		return -1;
	fprintf(out, "{\"function\": %s, \"sites\": %" PRIu32 ", \"armed\": [", quoted, fn->sites);
	for (size_t i = 0; i < fn->count; i++) {
		const struct coverage_site *site = &fn->armed[i];

		fprintf(out, "%s{\"site\": %.*s+0x%" PRIx32 "\", \"armed\": %" PRIu32, i ? ",\n " : "\n ", len, quoted,
			site->offset, site->counts.armed);
		put_count(out, "hits", site->counts.hits);
		put_count(out, "windows", site->counts.windows);
		put_count(out, "conflicts", site->counts.conflicts);
		put_count(out, "talks", site->counts.talks);
		fputc('}', out);
	}
	fputs("]}", out);
	free(quoted);
	return 0;
}

/*
 * The text() callback of struct json_items. One item of the file has FUNCTIONS_AT_A_TIME functions. Returns the JSON text of
 * the functions of item `index`, from malloc(), or NULL if memory runs out.
 */
static char *functions_text(void *ctx, size_t index)
{
	struct coverage_file *f = ctx;
	size_t first = index * FUNCTIONS_AT_A_TIME, end = first + FUNCTIONS_AT_A_TIME, size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);
	int rc = 0;

	for (size_t i = first; out && rc == 0 && i < end && i < f->size.functions; i++) {
		rc = coverage_function(f->coverage, &f->size, i, &f->copy) > 0 ? 0 : -1;
		if (rc == 0 && i > first)
			fputs(",\n", out);
		if (rc == 0)
			rc = put_function(out, &f->copy);
	}
	if (!out || (fclose(out) == 0 && rc == 0))
		return text;
	free(text);
	return NULL;
}

struct coverage_file *coverage_file_create(const char *path, const struct coverage_facts *facts, struct err *err)
{
	struct coverage_file *f = calloc(1, sizeof(*f));
	char *head = head_text(facts, &(struct coverage_size){0});

	if (!f || !head)
		err_set(err, EXIT_INTERNAL, "out of memory while creating %s", path);
	else
		f->json = json_file_create(path, head, "]}\n", err);
	free(head);
	if (f && f->json)
		return f;
	coverage_file_close(f);
	return NULL;
}

int coverage_file_write(struct coverage_file *f, const struct coverage_facts *facts, struct coverage *coverage, struct err *err)
{
	struct coverage_size size = coverage_size(coverage);
	struct json_items items = {
		.count = (size.functions + FUNCTIONS_AT_A_TIME - 1) / FUNCTIONS_AT_A_TIME, .text = functions_text, .ctx = f};
	char *head = head_text(facts, &size);
	int rc;

	if (!head)
		return err_set(err, EXIT_INTERNAL, "out of memory while writing the file of --coverage");
	f->coverage = coverage;
	f->size = size;
	rc = json_file_rewrite(f->json, head, "]}\n", &items, err);
	free(head);
	return rc;
}

void coverage_file_close(struct coverage_file *f)
{
	if (!f)
		return;
	json_file_close(f->json);
	free(f->copy.armed);
	free(f);
}

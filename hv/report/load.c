// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/report/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hv/report/json_read.h"
#include "hv/report/race_json.h"
#include "hv/report/race_read.h"

#define BANNER_MAX 512
#define SYMBOLS_MAX 4096

static json_t *parse(const char *path, struct err *err)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	json_error_t error;
	json_t *document;

	if (!file) {
		err_set(err, EXIT_INPUT, "%s: %s", path, strerror(errno));
		return NULL;
	}
	document = json_loadf(file, 0, &error);
	if (!document)
		err_set(err, EXIT_INPUT, "%s: line %d, column %d: %.160s; is it a report of `outrider run --json`?", path,
			error.line, error.column, error.text);
	if (file != stdin)
		fclose(file);
	return document;
}

static int check_schema(const json_t *document, const char *path, struct err *err)
{
	const char *schema = json_string_value(json_object_get(document, "schema"));

	if (!schema)
		return err_set(err, EXIT_INPUT, "%s: no \"schema\": it is no report of `outrider run --json`", path);
	if (strcmp(schema, DOCUMENT_SCHEMA) != 0)
		return err_set(err, EXIT_INPUT, "%s: schema \"%.40s\", but this version reads %s only", path, schema,
			       DOCUMENT_SCHEMA);
	return 0;
}

static char *read_line(struct json_reader *r, const json_t *o, const char *key, size_t max)
{
	char *text = malloc(max);

	if (text)
		read_text(r, o, key, text, max);
	else
		read_wrong(r, key, "small enough for the memory there is");
	return text;
}

static int read_kernel(struct report_load *l, const char *path, struct err *err)
{
	const json_t *o = read_optional(l->document, "kernel");
	struct json_reader r = {.what = path, .err = err};

	if (!o)
		return 0;
	l->kernel.banner = read_line(&r, o, "banner", BANNER_MAX);
	l->kernel.symbols = read_line(&r, o, "symbols", SYMBOLS_MAX);
	l->kernel.slide = read_hex(&r, o, "slide");
	l->kernel.debug_files =
		read_optional(o, "names") && strcmp(read_string(&r, o, "names"), document_names_word(true)) == 0;
	if (read_optional(o, "build_id"))
		l->kernel.build_id_len = read_bytes(&r, o, "build_id", l->kernel.build_id, sizeof(l->kernel.build_id));
	return r.failed ? -1 : 0;
}

static int read_races(struct report_load *l, const char *path, struct err *err)
{
	struct json_reader r = {.what = path, .err = err};
	const json_t *list = read_array(&r, l->document, "races", SIZE_MAX);
	char what[256];

	if (!list)
		return -1;
	l->races = calloc(json_array_size(list) + 1, sizeof(*l->races));
	if (!l->races)
		return err_set(err, EXIT_INTERNAL, "%s: out of memory", path);
	for (size_t i = 0; i < json_array_size(list); i++) {
		snprintf(what, sizeof(what), "%.200s: race %zu", path, i + 1);
		l->races[i] = race_read(json_array_get(list, i), what, err);
		if (!l->races[i])
			return -1;
		l->count++;
	}
	return 0;
}

int report_load(struct report_load *out, const char *path, struct err *err)
{
	*out = (struct report_load){.document = parse(path, err)};
	if (out->document && check_schema(out->document, path, err) == 0 && read_kernel(out, path, err) == 0 &&
	    report_modules_read(&out->modules, json_object_get(out->document, "modules"), err) == 0 &&
	    read_races(out, path, err) == 0)
		return 0;
	report_load_free(out);
	return -1;
}

void report_load_free(struct report_load *l)
{
	for (size_t i = 0; i < l->count; i++)
		race_free(l->races[i]);
	free(l->races);
	report_modules_free(&l->modules);
	free(l->kernel.banner);
	free(l->kernel.symbols);
	json_decref(l->document);
	*l = (struct report_load){0};
}

int report_load_into(struct report_load *l, struct race_store *store, struct err *err)
{
	for (size_t i = 0; i < l->count; i++) {
		if (!race_store_put(store, l->races[i], err))
			return -1;
		l->races[i] = NULL;
	}
	return 0;
}

static int update_kernel(struct report_load *l)
{
	json_t *kernel = json_object_get(l->document, "kernel");

	return json_is_object(kernel)
		       ? json_object_set_new(kernel, "names", json_string(document_names_word(l->kernel.debug_files)))
		       : 0;
}

int report_load_update(struct report_load *l, struct err *err)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < l->count; i++) {
		json_t *race = race_json(l->races[i]);

		if (race && json_array_append_new(list, race) == 0)
			continue;
		json_decref(list);
		list = NULL;
	}
	if (list && json_object_set_new(l->document, "races", list) == 0 && update_kernel(l) == 0)
		return 0;
	return err_set(err, EXIT_INTERNAL, "out of memory while making the report");
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the file of --prefer: the weights of sites. */
#include "hv/report/coverage/prefer_json.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/report/coverage/site.h"
#include "hv/report/json/read.h"

#define WEIGHT_WANTED "a weight from 0.001 to 1000"

/* Report an invalid member of "functions" or "sites". Returns -1. */
static int wrong(const char *path, const char *name, const char *wanted, struct err *err)
{
	return err_set(err, EXIT_INPUT, "%s: \"%.80s\": give %s", path, name, wanted);
}

/* Returns the weight in thousandths, or 0 if the value is not a weight. */
static uint32_t weight_of(const json_t *value)
{
	double weight = json_is_number(value) ? json_number_value(value) * PREFER_ONE : 0;

	return weight >= PREFER_LEAST && weight <= PREFER_MOST ? (uint32_t)(weight + 0.5) : 0;
}

static bool is_name(const char *name)
{
	return name[0] && strlen(name) < SITE_NAME_MAX;
}

static int add_functions(struct prefer *p, const json_t *functions, const char *path, struct err *err)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)functions, name, value)
	{
		uint32_t weight = weight_of(value);

		if (!is_name(name))
			return wrong(path, name, "the name of a function, for example ext4:ext4_writepages", err);
		if (!weight)
			return wrong(path, name, WEIGHT_WANTED, err);
		if (prefer_function(p, name, weight))
			return err_set(err, EXIT_INTERNAL, "%s: out of memory", path);
	}
	return 0;
}

static int add_sites(struct prefer *p, const json_t *sites, const char *path, struct err *err)
{
	char function[SITE_NAME_MAX];
	const char *name;
	uint32_t offset;
	json_t *value;

	json_object_foreach((json_t *)sites, name, value)
	{
		uint32_t weight = weight_of(value);

		if (!site_split(name, function, &offset))
			return wrong(path, name, "a site as reports name it, for example ext4:ext4_writepages+0x1c", err);
		if (!weight)
			return wrong(path, name, WEIGHT_WANTED, err);
		if (prefer_site(p, function, offset, weight))
			return err_set(err, EXIT_INTERNAL, "%s: out of memory", path);
	}
	return 0;
}

static int check_schema(const json_t *document, const char *path, struct err *err)
{
	const char *schema = json_string_value(json_object_get(document, "schema"));

	if (!schema)
		return err_set(err, EXIT_INPUT, "%s: no \"schema\": it is no file for --prefer", path);
	if (strcmp(schema, PREFER_SCHEMA) != 0)
		return err_set(err, EXIT_INPUT, "%s: schema \"%.40s\", but this version reads %s only", path, schema,
			       PREFER_SCHEMA);
	return 0;
}

/* Returns an optional member that must be an object, or NULL. */
static const json_t *optional_object(struct json_reader *r, const json_t *document, const char *key)
{
	return json_read_optional(document, key) ? json_read_object(r, document, key) : NULL;
}

static struct prefer *read_document(const json_t *document, const char *path, struct err *err)
{
	struct json_reader r = {.what = path, .err = err};
	const json_t *weight = json_read_optional(document, "weight"), *functions, *sites;
	uint8_t build_id[PREFER_BUILD_ID_MAX];
	uint32_t build_id_len = 0;
	struct prefer *p = NULL;

	if (check_schema(document, path, err) < 0)
		return NULL;
	if (weight && !weight_of(weight)) {
		wrong(path, "weight", WEIGHT_WANTED, err);
		return NULL;
	}
	if (json_read_optional(document, "build_id"))
		build_id_len = json_read_bytes(&r, document, "build_id", build_id, sizeof(build_id));
	functions = optional_object(&r, document, "functions");
	sites = optional_object(&r, document, "sites");
	if (r.failed)
		return NULL;
	p = prefer_new(weight ? weight_of(weight) : PREFER_ONE);
	if (!p) {
		err_set(err, EXIT_INTERNAL, "%s: out of memory", path);
		return NULL;
	}
	prefer_for_build(p, build_id, build_id_len);
	if (add_functions(p, functions, path, err) < 0 || add_sites(p, sites, path, err) < 0) {
		prefer_free(p);
		return NULL;
	}
	prefer_ready(p);
	return p;
}

struct prefer *prefer_read(const char *text, size_t len, const char *path, struct err *err)
{
	json_error_t wrong_json;
	json_t *document = json_loadb(text, len, JSON_REJECT_DUPLICATES, &wrong_json);
	struct prefer *p = NULL;

	if (document)
		p = read_document(document, path, err);
	else
		err_set(err, EXIT_INPUT, "%s:%d: %s", path, wrong_json.line, wrong_json.text);
	json_decref(document);
	return p;
}

struct prefer *prefer_load(const char *path, struct err *err)
{
	FILE *file = fopen(path, "re");
	char *text = file ? malloc(PREFER_FILE_MAX + 1) : NULL;
	struct prefer *p = NULL;
	size_t len;

	if (!file) {
		err_set(err, EXIT_INPUT, "cannot read %s: %s", path, strerror(errno));
		return NULL;
	}
	errno = 0;
	len = text ? fread(text, 1, PREFER_FILE_MAX + 1, file) : 0;
	if (!text)
		err_set(err, EXIT_INTERNAL, "%s: out of memory", path);
	else if (ferror(file))
		err_set(err, EXIT_INPUT, "cannot read %s: %s", path, strerror(errno));
	else if (len > PREFER_FILE_MAX)
		err_set(err, EXIT_INPUT, "%s: a file for --prefer has at most 64 MiB", path);
	else
		p = prefer_read(text, len, path, err);
	free(text);
	fclose(file);
	return p;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the modules that a report's addresses may be in: where each was loaded, and which build it is. */
#include "hv/report/modules.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/base/grow.h"
#include "hv/report/json/read.h"
#include "hv/report/json/write.h"

/* Maximum number of sections of a module in a report. More only come from a hostile file. */
#define SECTIONS_MAX 1024
/*
 * Limit of a data section's size: 64 MiB. The sections of a module's data lie apart from its text, and their sizes are unknown.
 * An address belongs to the nearest section that begins at or below it, if the distance is less than this limit.
 */
#define SECTION_MAX (UINT64_C(64) << 20)

void report_modules_free(struct report_modules *m)
{
	for (size_t i = 0; i < m->count; i++)
		free(m->list[i].sections);
	free(m->list);
	race_index_free(&m->index);
	*m = (struct report_modules){0};
}

struct wanted {
	const struct report_modules *modules;
	uint64_t id;
};

static bool has_id(void *ctx, size_t position)
{
	const struct wanted *wanted = ctx;

	return wanted->modules->list[position].id == wanted->id;
}

const struct report_module *report_modules_find(const struct report_modules *m, uint64_t id)
{
	struct wanted wanted = {m, id};
	size_t at = race_index_find(&m->index, siphash(&m->key, &id, sizeof(id)), has_id, &wanted);

	return at == RACE_INDEX_NONE ? NULL : &m->list[at];
}

int report_modules_add(struct report_modules *m, const struct report_module *module, struct err *err)
{
	struct report_module copy = *module, *to = NULL;

	if (m->count && report_modules_find(m, module->id))
		return 0;
	if (m->count == 0)
		siphash_key_make(&m->key);
	copy.sections = calloc(module->nsections + 1, sizeof(*copy.sections));
	if (copy.sections && race_index_make_room(&m->index) == 0)
		to = list_grow(&m->list, &m->count, sizeof(*to), NULL);
	if (!to) {
		free(copy.sections);
		return err_set(err, EXIT_INTERNAL, "out of memory while keeping the list of modules");
	}
	if (module->nsections)
		memcpy(copy.sections, module->sections, module->nsections * sizeof(*copy.sections));
	clean_field(copy.name, sizeof(copy.name));
	for (size_t i = 0; i < copy.nsections; i++)
		clean_field(copy.sections[i].name, sizeof(copy.sections[i].name));
	*to = copy;
	m->bytes += report_module_bytes(&copy);
	race_index_add(&m->index, siphash(&m->key, &copy.id, sizeof(copy.id)));
	return 0;
}

uint64_t report_module_distance(const struct report_module *module, uint64_t gva)
{
	uint64_t nearest = UINT64_MAX;

	if (gva - module->base < module->size)
		return 0;
	for (size_t i = 0; i < module->nsections; i++) {
		uint64_t distance = gva - module->sections[i].addr;

		if (module->sections[i].addr && distance < SECTION_MAX && distance < nearest)
			nearest = distance;
	}
	return nearest;
}

size_t report_module_bytes(const struct report_module *module)
{
	return sizeof(*module) + module->nsections * sizeof(*module->sections);
}

static json_t *sections_json(const struct report_module *module)
{
	json_t *o = json_object();

	for (size_t i = 0; o && i < module->nsections; i++) {
		char name[CLEAN_MAX(sizeof(module->sections[i].name))];

		clean_text(module->sections[i].name, sizeof(module->sections[i].name), name, sizeof(name));
		if (json_object_set_new(o, name, json_hex(module->sections[i].addr)) == 0)
			continue;
		json_decref(o);
		o = NULL;
	}
	return o;
}

json_t *report_module_json(const struct report_module *module)
{
	char name[CLEAN_MAX(sizeof(module->name))];

	clean_text(module->name, sizeof(module->name), name, sizeof(name));
	return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o}", "id", json_whole(module->id), "name", name, "base",
			 json_hex(module->base), "size", json_whole(module->size), "build_id",
			 json_build_id(module->build_id, module->build_id_len), "sections", sections_json(module));
}

json_t *report_modules_json(const struct report_modules *m)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < m->count; i++) {
		if (json_array_append_new(list, report_module_json(&m->list[i])) == 0)
			continue;
		json_decref(list);
		list = NULL;
	}
	return list;
}

static void read_sections(struct json_reader *r, const json_t *o, struct report_module *out)
{
	const json_t *sections = json_read_object(r, o, "sections"), *value;
	const char *name;

	if (json_object_size(sections) > SECTIONS_MAX)
		json_read_wrong(r, "sections", "a list within its size limit");
	if (r->failed)
		return;
	out->sections = calloc(json_object_size(sections) + 1, sizeof(*out->sections));
	if (!out->sections) {
		json_read_wrong(r, "sections", "small enough for the memory there is");
		return;
	}
	/* The cast is safe: jansson's iteration takes a non-const object, but does not change it. */
	json_object_foreach((json_t *)sections, name, value)
	{
		struct image_section *section = &out->sections[out->nsections++];

		(void)value;
		clean_text(name, strlen(name), section->name, sizeof(section->name));
		section->addr = json_read_hex(r, sections, name);
	}
}

static void read_module(struct json_reader *r, const json_t *o, struct report_module *out)
{
	out->id = json_read_number(r, o, "id", INT64_MAX);
	json_read_text(r, o, "name", out->name, sizeof(out->name));
	out->base = json_read_hex(r, o, "base");
	out->size = json_read_number(r, o, "size", INT64_MAX);
	if (json_read_optional(o, "build_id"))
		out->build_id_len = json_read_bytes(r, o, "build_id", out->build_id, sizeof(out->build_id));
	read_sections(r, o, out);
}

int report_modules_read(struct report_modules *m, const json_t *object, struct err *err)
{
	char what[48];
	struct json_reader r = {.what = what, .err = err};
	struct report_module module = {0};
	int rc;

	snprintf(what, sizeof(what), "module %zu", m->count + 1);
	read_module(&r, object, &module);
	rc = r.failed ? -1 : report_modules_add(m, &module, err);
	free(module.sections);
	return rc;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The modules that a report's addresses may be in: where each was loaded and which build it is, so that the addresses can be
 * named later and on another machine. Each load of a module makes a new entry with a new id.
 */
#ifndef OUTRIDER_REPORT_MODULES_H
#define OUTRIDER_REPORT_MODULES_H

#include <jansson.h>

#include "hv/base/err.h"
#include "hv/base/siphash.h"
#include "hv/race/index.h"
#include "symbols/files/debug_images.h"

#define REPORT_BUILD_ID_MAX 20 /* bytes */

struct report_module {
	/* Unique per load of a module. */
	uint64_t id;
	/* The module's name with a NUL. */
	char name[64];
	/* GVA of the text. */
	uint64_t base;
	/* Size of the text in bytes. */
	uint64_t size;
	/* Build id of `build_id_len` bytes. */
	uint8_t build_id[REPORT_BUILD_ID_MAX];
	/* 0: unknown. */
	size_t build_id_len;
	/* Load addresses of the sections: `nsections` of them. */
	struct image_section *sections;
	size_t nsections;
};

/* A list that owns its modules. All zero: an empty list. */
struct report_modules {
	/* The modules, in the order in which they were added. */
	struct report_module *list;
	size_t count;
	/* Sum of report_module_bytes() of all modules. */
	size_t bytes;
	/* Index of `list`, by id. */
	struct race_index index;
	/*
	 * Key of the index's hash, chosen at random when the first module is added. The ids of a report are not trusted: with a
	 * known key, all ids could be chosen so that their hashes collide.
	 */
	struct siphash_key key;
};

/* Free all modules and empty the list. */
void report_modules_free(struct report_modules *m);

/* Add a copy of `module` with printable names, unless the list has its id. Returns 0, or -1 with err set if memory runs out. */
int report_modules_add(struct report_modules *m, const struct report_module *module, struct err *err);

/* Returns the module with that id, valid until the next module is added; NULL if the list has no such id. */
const struct report_module *report_modules_find(const struct report_modules *m, uint64_t id);

/*
 * Returns 0 if `gva` is in the module's text; otherwise the distance in bytes from the nearest section that begins at or below
 * `gva`; UINT64_MAX if `gva` cannot belong to the module.
 */
uint64_t report_module_distance(const struct report_module *module, uint64_t gva);

/* Returns the size of this record of a module in memory, in bytes. Its entry in the JSON report has about the same size. */
size_t report_module_bytes(const struct report_module *module);

/* Returns the module as a JSON object, as in docs/report-format.md, or NULL if memory runs out. */
json_t *report_module_json(const struct report_module *module);

/* Returns the whole list as JSON, or NULL if memory runs out. */
json_t *report_modules_json(const struct report_modules *m);

/*
 * Read a module from an object as report_module_json() makes it, and add it to `m`. Returns 0, or -1 with err set: EXIT_INPUT
 * if the object is not valid.
 */
int report_modules_read(struct report_modules *m, const json_t *object, struct err *err);

#endif

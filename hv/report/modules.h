/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The modules that a report's addresses may be in: where each was loaded, and which build of it, so that the addresses can be
 * named later and on another machine. A module that is loaded again is another one, with another id.
 */
#ifndef OUTRIDER_REPORT_MODULES_H
#define OUTRIDER_REPORT_MODULES_H

#include <jansson.h>

#include "hv/base/err.h"
#include "hv/base/siphash.h"
#include "hv/race/index.h"
#include "symbols/files/debug_images.h"

#define REPORT_BUILD_ID_MAX 20

struct report_module {
	/* Unique for each time that a module is loaded. */
	uint64_t id;
	/* Its name, with a NUL. */
	char name[64];
	/* GVA of its text. */
	uint64_t base;
	/* Size of its text in bytes. */
	uint64_t size;
	/* Its build id, of build_id_len bytes. */
	uint8_t build_id[REPORT_BUILD_ID_MAX];
	/* 0: the build id is not known. */
	size_t build_id_len;
	/* Where each of its sections was loaded. */
	struct image_section *sections;
	/* How many sections there are. */
	size_t nsections;
};

/* A list that owns its modules. All zero: an empty one. */
struct report_modules {
	/* The modules, in the order in which they were added. */
	struct report_module *list;
	/* How many there are. */
	size_t count;
	/* How many there is room for. */
	size_t room;
	/* report_module_bytes() of all of them. */
	size_t bytes;
	/* Of `list`, by id. */
	struct race_index index;
	/* Random, since ids of a report that was read are what anybody wrote there. Made with the first module. */
	struct siphash_key key;
};

/* Free all modules. The list is empty afterwards. */
void report_modules_free(struct report_modules *m);

/* Add a copy of `module`, with its names made printable, unless there is one with its id already. 0, or -1 with err set: memory
 * ran out. */
int report_modules_add(struct report_modules *m, const struct report_module *module, struct err *err);

/* The module with that id, valid until the next one is added. NULL: there is none. */
const struct report_module *report_modules_find(const struct report_modules *m, uint64_t id);

/*
 * How far `gva` is behind the beginning of the module's part that it may be in, in bytes: 0 in its text, or the distance to the
 * nearest section below. UINT64_MAX: it is in no part of the module.
 */
uint64_t report_module_distance(const struct report_module *module, uint64_t gva);

/* The bytes that the module takes in memory; in JSON it takes about as much. */
size_t report_module_bytes(const struct report_module *module);

/* The module as a JSON object, as docs/report-format.md says. NULL: memory ran out. */
json_t *report_module_json(const struct report_module *module);

/* The whole list as JSON. NULL: memory ran out. */
json_t *report_modules_json(const struct report_modules *m);

/* Read such an object back, and add the module to `m`. 0, or -1 with err set. EXIT_INPUT: it is no such object. */
int report_modules_read(struct report_modules *m, const json_t *object, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The modules that a report's addresses may be in: where each was loaded and of which build, so that they can be named later
 * and on another machine. A module loaded again is another one, with another id.
 */
#ifndef OUTRIDER_REPORT_MODULES_H
#define OUTRIDER_REPORT_MODULES_H

#include <jansson.h>

#include "hv/base/err.h"
#include "symbols/files/debug_images.h"

#define REPORT_BUILD_ID_MAX 20

struct report_module {
	uint64_t id;
	char name[64];
	uint64_t base, size; /* of its text: GVA and bytes */
	uint8_t build_id[REPORT_BUILD_ID_MAX];
	size_t build_id_len; /* 0: not known */
	struct image_section *sections;
	size_t nsections;
};

struct report_modules {
	struct report_module *list; /* by id */
	size_t count;
};

void report_modules_free(struct report_modules *m);

/* Add a copy unless there is one of that id. 0, or -1 when memory ran out. */
int report_modules_add(struct report_modules *m, const struct report_module *module, struct err *err);

/* NULL: none of that id. */
const struct report_module *report_modules_find(const struct report_modules *m, uint64_t id);

/* A list of objects, as docs/report-format.md says; NULL when memory ran out. */
json_t *report_modules_json(const struct report_modules *m);

/* The same read back, added to `m`. NULL is an empty list. 0, or -1 with EXIT_INPUT. */
int report_modules_read(struct report_modules *m, const json_t *list, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report read back from its JSON file, from any machine and version of this schema. */
#ifndef OUTRIDER_REPORT_LOAD_H
#define OUTRIDER_REPORT_LOAD_H

#include <jansson.h>

#include "hv/report/document.h"
#include "hv/report/store.h"

struct report_load {
	json_t *document; /* whole: what is not understood is kept as it is */
	struct race **races;
	size_t count;
	struct report_modules modules;
	struct document_kernel kernel; /* banner and symbols NULL: the run never found one */
};

/*
 * Read `path`, "-" for standard input. -1 with EXIT_INPUT: it cannot be read, is no JSON (with line and column), of another
 * schema, or an object in it is not as docs/report-format.md says; `out` is then empty.
 */
int report_load(struct report_load *out, const char *path, struct err *err);
void report_load_free(struct report_load *l);

/* Hand all races over to `store`. 0, or -1 when memory ran out: the rest are still the load's. */
int report_load_into(struct report_load *l, struct race_store *store, struct err *err);

/* Put the races, changed since, into the document in place of those read. 0, or -1 when memory ran out. */
int report_load_update(struct report_load *l, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report read back from its JSON file, from any machine and version of this schema. */
#ifndef OUTRIDER_REPORT_JSON_LOAD_H
#define OUTRIDER_REPORT_JSON_LOAD_H

#include <jansson.h>
#include <stdio.h>

#include "hv/report/json/document.h"
#include "hv/race/store.h"

struct report_load {
	json_t *document; /* all but the races, of which the list is empty: what is not understood is kept as it is */
	struct race **races;
	size_t count;
	struct report_modules modules;
	struct document_kernel kernel; /* banner and symbols NULL: the run never found one */
};

/*
 * Read `path`, "-" for standard input, race by race: never is more than one of them a tree in memory. -1 with EXIT_INPUT: it
 * cannot be read, is no JSON (with line and byte), of another schema, or an object in it is not as docs/report-format.md
 * says; `out` is then empty.
 */
int report_load(struct report_load *out, const char *path, struct err *err);
void report_load_free(struct report_load *l);

/* Free the races that are not wanted. */
void report_load_keep(struct report_load *l, bool (*wanted)(void *ctx, const struct race *race), void *ctx);

/* Hand all races over to `store`. 0, or -1 when memory ran out: the rest are still the load's. */
int report_load_into(struct report_load *l, struct race_store *store, struct err *err);

/*
 * Write the document anew, the races as they are by now. `amend`, unless NULL, can add to the object of race `index`: 0, or -1
 * for out of memory. 0, or -1: memory ran out, with err set, or `out` cannot be written, without.
 */
int report_load_write(struct report_load *l, FILE *out, int (*amend)(void *ctx, size_t index, json_t *race), void *ctx,
		      struct err *err);

#endif

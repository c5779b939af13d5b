/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report read back from its JSON file, whatever machine and version of this schema it is from. */
#ifndef OUTRIDER_REPORT_JSON_LOAD_H
#define OUTRIDER_REPORT_JSON_LOAD_H

#include <jansson.h>
#include <stdio.h>

#include "hv/report/json/document.h"
#include "hv/race/lock_record.h"
#include "hv/race/store.h"

struct report_load {
	/* The document without its races and modules, the lists of which are empty. What this version does not understand
	 * outside of them is kept as it is. */
	json_t *document;
	/* The races, in the order of the file. */
	struct race **races;
	/* The value of each race's member "verdict", in the same order, as it stands in the file. NULL: there is none. */
	json_t **verdicts;
	/* How many races there are. */
	size_t count;
	/* The modules that the races' addresses may be in. */
	struct report_modules modules;
	/* What the file says of the run. Its strings are the load's. */
	struct run_facts run;
	/* What is under which lock. All zero: the file does not say, since no locks were followed. */
	struct lock_record locks;
};

/*
 * Read the file at `path`, or standard input for "-". It is read race by race and module by module, so that never more
 * than one of them is a tree of JSON in memory. 0, or -1 with EXIT_INPUT: the file cannot be read, is no JSON (the message has
 * line and byte), has another schema, or an object in it is not as docs/report-format.md says. Then `out` is empty.
 */
int report_load(struct report_load *out, const char *path, struct err *err);

/*
 * Read only what the file at `path` says of locks, for lock_record_fini(). The whole file is checked all the same. 0, or -1 as
 * report_load(), with EXIT_INPUT as well when the file says nothing of locks. Then `out` is all zero.
 */
int json_locks_load(struct lock_record *out, const char *path, struct err *err);

/* Free all that was read. The load is empty afterwards. */
void report_load_free(struct report_load *l);

/* Free the races for which wanted(ctx, race) is false, and their verdicts. */
void report_load_keep(struct report_load *l, bool (*wanted)(void *ctx, const struct race *race), void *ctx);

/* Hand all races over to `store`, as those of a new run. 0, or -1 when memory ran out: then the rest are still the load's. */
int report_load_into(struct report_load *l, struct race_store *store, struct err *err);

/*
 * Write the document anew, with the races as they are by now. `amend`, unless it is NULL, can add to the object of race
 * `index`; it returns 0, or -1 when memory ran out. Returns 0; -1 with err set when memory ran out; or -1 without when `out`
 * cannot be written.
 */
int report_load_write(struct report_load *l, FILE *out, int (*amend)(void *ctx, size_t index, json_t *race), void *ctx,
		      struct err *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a report back from its JSON file, from any machine and any version of this schema. */
#ifndef OUTRIDER_REPORT_JSON_LOAD_H
#define OUTRIDER_REPORT_JSON_LOAD_H

#include <jansson.h>
#include <stdio.h>

#include "hv/report/json/document.h"
#include "hv/race/lock_record.h"
#include "hv/race/store.h"

struct report_load {
	/*
	 * The document. Its lists of races and modules and its lock record are empty, because the members below have their
	 * contents. Members that this version does not know are kept unchanged.
	 */
	json_t *document;
	/* The races, in file order. */
	struct race **races;
	/* Each race's member "verdict", in the same order, unchanged. NULL: the race has none. */
	json_t **verdicts;
	/* Number of races. */
	size_t count;
	/* The modules that the races' addresses may be in. */
	struct report_modules modules;
	/* The facts about the run. This struct owns the strings of `run`. */
	struct run_facts run;
	/* The lock record. All zero: locks were not followed. */
	struct lock_record locks;
};

/*
 * Read the file at `path`, or standard input for "-". Reads one race or module at a time, so that memory holds the JSON tree of
 * only one of them. Returns 0. Returns -1 with EXIT_INPUT and `out` empty if the file cannot be read, is not JSON (the message
 * has line and byte), has another schema, or contains an object that does not match docs/report-format.md.
 */
int report_load(struct report_load *out, const char *path, struct err *err);

/*
 * Read only the lock record of the file at `path`; free it with lock_record_fini(). The whole file is checked. Returns 0.
 * Returns -1 with `out` all zero and the errors of report_load(); a file without a lock record is also EXIT_INPUT.
 */
int json_locks_load(struct lock_record *out, const char *path, struct err *err);

/* Free all that was read, and set *l to an empty report. */
void report_load_free(struct report_load *l);

/* Remove the races for which wanted(ctx, race) returns false, with their verdicts. */
void report_load_keep(struct report_load *l, bool (*wanted)(void *ctx, const struct race *race), void *ctx);

/*
 * Move all races to `store`, as races of a new run. Returns 0, or -1 if memory runs out; *l then still owns the races that were
 * not moved.
 */
int report_load_into(struct report_load *l, struct race_store *store, struct err *err);

/*
 * Write the document with the current state of the races. `amend`, if not NULL, may add to the object of race `index`; amend()
 * returns 0, or -1 if memory runs out. report_load_write() returns 0, or -1 with err set if memory runs out, and -1 without err
 * if `out` cannot be written.
 */
int report_load_write(struct report_load *l, FILE *out, int (*amend)(void *ctx, size_t index, json_t *race), void *ctx,
		      struct err *err);

#endif

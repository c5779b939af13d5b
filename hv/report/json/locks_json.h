/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is under which lock, as the member "locks" of a report. It can be much larger than a race, so it is written and read
 * item by item, and never is a tree of JSON in memory. docs/report-format.md and docs/report.schema.json describe it.
 */
#ifndef OUTRIDER_REPORT_JSON_LOCKS_JSON_H
#define OUTRIDER_REPORT_JSON_LOCKS_JSON_H

#include <stdio.h>

#include "hv/base/err.h"
#include "hv/race/lock_record.h"
#include "hv/report/json/stream.h"

/* Write the object. 0; -1 with err set when memory ran out; or -1 without when `out` cannot be written. */
int locks_json_write(FILE *out, const struct protection *p, const struct suspicions *s, struct err *err);

/* The object as text from malloc(). NULL: memory ran out. */
char *locks_json_text(const struct protection *p, const struct suspicions *s);

/*
 * Read the object back, from behind its opening brace on, out of the file at `path`, for lock_record_fini(). Nothing in it is
 * believed: indices must be of entries that are there. 0, or -1 with err set: then `out` is all zero.
 */
int locks_json_read(struct json_stream *in, const char *path, struct lock_record *out, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and writes the lock record: the member "locks" of a report (docs/report-format.md, docs/report.schema.json). It can be
 * much larger than a race, so it is processed item by item and is never a JSON tree in memory.
 */
#ifndef OUTRIDER_REPORT_JSON_LOCKS_JSON_H
#define OUTRIDER_REPORT_JSON_LOCKS_JSON_H

#include <stdio.h>

#include "hv/base/err.h"
#include "hv/race/lock_record.h"
#include "hv/report/json/stream.h"

/*
 * Write the lock record as a JSON object. Returns 0. Returns -1 with err set if memory runs out, and -1 without err if `out`
 * cannot be written.
 */
int locks_json_write(FILE *out, const struct protection *p, const struct suspicions *s, struct err *err);

/* Returns the same JSON object as text from malloc(), or NULL if memory runs out. */
char *locks_json_text(const struct protection *p, const struct suspicions *s);

/*
 * Read a lock record from the JSON object in `in`. The object's opening brace was read already. `path` is for messages. Free
 * the record with lock_record_fini(). The content is untrusted: indices must refer to existing entries. Returns 0, or -1 with
 * err set and `out` all zero.
 */
int locks_json_read(struct json_stream *in, const char *path, struct lock_record *out, struct err *err);

#endif

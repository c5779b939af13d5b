/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a JSON file value by value. The caller reads the brackets, commas and keys of the outer lists and objects itself; only
 * the requested value becomes a tree in memory. jansson parses each value.
 */
#ifndef OUTRIDER_REPORT_JSON_STREAM_H
#define OUTRIDER_REPORT_JSON_STREAM_H

#include <jansson.h>
#include <stdbool.h>

#include "hv/base/err.h"

/*
 * Maximum number of bytes of text of one value. A race has less than 1 MiB, a module some KiB. The tree in memory can be 50
 * times as large.
 */
#define JSON_STREAM_VALUE_MAX (16u << 20)

struct json_stream;

/*
 * Open `path`, or standard input for "-". `path` must outlive the stream. Returns NULL with err set if the file cannot be
 * opened, is empty, or is no JSON by its first bytes, for example a compressed file.
 */
struct json_stream *json_stream_open(const char *path, struct err *err);

/* Close and free the stream. `s` may be NULL. */
void json_stream_close(struct json_stream *s);

/* Skip blanks; if `c` comes next, consume it and return true. */
bool json_stream_take(struct json_stream *s, char c);

/* Returns true if only blanks follow. */
bool json_stream_at_end(struct json_stream *s);

/*
 * Read the next value, of any type. The caller calls json_decref(). Returns NULL with err set: EXIT_INPUT if no value follows,
 * it is longer than JSON_STREAM_VALUE_MAX, or the file cannot be read; EXIT_INTERNAL if memory runs out.
 */
json_t *json_stream_value(struct json_stream *s, struct err *err);

/*
 * Set the error for the current position: file, line and byte, both from 1, and `wanted`. If the file could not be read, that
 * is the error instead. Returns -1.
 */
int json_stream_wrong(const struct json_stream *s, const char *wanted, struct err *err);

#endif

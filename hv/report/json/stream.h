/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A JSON file that is read value by value. The caller walks the outer lists and objects itself, and only the value that it asks
 * for becomes a tree in memory. jansson decides what a value is, as it does for a whole document.
 */
#ifndef OUTRIDER_REPORT_JSON_STREAM_H
#define OUTRIDER_REPORT_JSON_STREAM_H

#include <jansson.h>
#include <stdbool.h>

#include "hv/base/err.h"

/* Bytes of text that one value may have. A race has less than 1 MiB, a module some KiB. The tree can be 50 times as large. */
#define JSON_STREAM_VALUE_MAX (16u << 20)

struct json_stream;

/* Open `path`, or standard input for "-". `path` must last as long as the stream. NULL with err set: it cannot be opened. */
struct json_stream *json_stream_open(const char *path, struct err *err);

/* NULL is allowed. */
void json_stream_close(struct json_stream *s);

/* Take `c` if it comes next, blanks aside. Returns whether it did. */
bool json_stream_take(struct json_stream *s, char c);

/* Whether nothing but blanks comes any more. */
bool json_stream_at_end(struct json_stream *s);

/*
 * Take the value that comes next, of any kind. The caller gives it up by json_decref(). Returns NULL with err set: EXIT_INPUT
 * when no value comes next, when it is longer than JSON_STREAM_VALUE_MAX or when the file cannot be read; EXIT_INTERNAL when
 * memory ran out.
 */
json_t *json_stream_value(struct json_stream *s, struct err *err);

/*
 * Set the error for what comes next: the file, its line and byte, both from 1, and `wanted`. If the file cannot be read, that
 * is the error instead. Returns -1.
 */
int json_stream_wrong(const struct json_stream *s, const char *wanted, struct err *err);

#endif

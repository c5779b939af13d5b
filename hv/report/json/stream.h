/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A JSON file read value by value: the caller walks the outer lists and objects itself, and only the value that it asks for is
 * a tree in memory. What a value is, jansson decides, as for a whole document.
 */
#ifndef OUTRIDER_REPORT_JSON_STREAM_H
#define OUTRIDER_REPORT_JSON_STREAM_H

#include <jansson.h>
#include <stdbool.h>

#include "hv/base/err.h"

/* Bytes of one value: a race has less than 1 MiB, a module some KiB. Its tree can be 50 times as large. */
#define JSON_STREAM_VALUE_MAX (16u << 20)

struct json_stream;

/* `path`, which must last as long as the stream; "-" is standard input. NULL: see err. */
struct json_stream *json_stream_open(const char *path, struct err *err);
void json_stream_close(struct json_stream *s);

/* Take `c` if it comes next, blanks aside. */
bool json_stream_take(struct json_stream *s, char c);

/* Whether there is nothing more but blanks. */
bool json_stream_at_end(struct json_stream *s);

/* The value that comes next, of any kind, for json_decref(). NULL: see err. */
json_t *json_stream_value(struct json_stream *s, struct err *err);

/* An error for what comes next: file, line and byte of the file, from 1, and `wanted`. Or for why the file cannot be read.
 * Returns -1. */
int json_stream_wrong(const struct json_stream *s, const char *wanted, struct err *err);

#endif

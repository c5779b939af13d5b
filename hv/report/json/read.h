/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading a JSON object whose author is not trusted, without a check at each line: the first thing that is not as wanted is
 * kept as the error, everything after it reads as 0, NULL or "", and the caller looks once, at the end.
 */
#ifndef OUTRIDER_REPORT_JSON_READ_H
#define OUTRIDER_REPORT_JSON_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

struct json_reader {
	const char *what; /* which object of the file, for the message: "race 12 of 40" */
	struct err *err;
	bool failed;
};

/* Record that `key` is not `wanted`; returns false. */
bool read_wrong(struct json_reader *r, const char *key, const char *wanted);

/* The member, or NULL when it is missing or null. */
const json_t *read_optional(const json_t *object, const char *key);

/* The member, which must be an object, or an array of at most `max`; NULL after an error. */
const json_t *read_object(struct json_reader *r, const json_t *object, const char *key);
const json_t *read_array(struct json_reader *r, const json_t *object, const char *key, size_t max);

/* A string; "" after an error. */
const char *read_string(struct json_reader *r, const json_t *object, const char *key);

/* Text that was cleaned for JSON, back into `out`, cut at `size`. null is "". */
void read_text(struct json_reader *r, const json_t *object, const char *key, char *out, size_t size);

uint64_t read_hex(struct json_reader *r, const json_t *object, const char *key);
uint64_t read_number(struct json_reader *r, const json_t *object, const char *key, uint64_t max);
bool read_bool(struct json_reader *r, const json_t *object, const char *key);

/* Seconds as nanoseconds. */
uint64_t read_seconds(struct json_reader *r, const json_t *object, const char *key);

/* Bytes in hexadecimal, at most `max` of them; returns how many. */
uint32_t read_bytes(struct json_reader *r, const json_t *object, const char *key, uint8_t *out, size_t max);

#endif

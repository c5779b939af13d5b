/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading a JSON object whose author is not trusted, without a check at each line. The first thing that is not as wanted
 * becomes the error. Every function gives 0, NULL or "" for what is not as wanted, so that the caller goes on, and looks at
 * `failed` once, at the end.
 *
 * What is returned belongs to the object that is read.
 */
#ifndef OUTRIDER_REPORT_JSON_READ_H
#define OUTRIDER_REPORT_JSON_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

struct json_reader {
	/* Which object of the file is read, for the message: "race 12 of 40". */
	const char *what;
	/* Takes the first error, as EXIT_INPUT. */
	struct err *err;
	/* Something was not as wanted. */
	bool failed;
};

/* Record that member `key` is not `wanted`, a phrase for the message. Returns false. */
bool json_read_wrong(struct json_reader *r, const char *key, const char *wanted);

/* A member. NULL when it is missing or null, which is no error. */
const json_t *json_read_optional(const json_t *object, const char *key);

/* A member that must be an object. NULL after an error. */
const json_t *json_read_object(struct json_reader *r, const json_t *object, const char *key);

/* A member that must be an array of at most `max` values. NULL after an error. */
const json_t *json_read_array(struct json_reader *r, const json_t *object, const char *key, size_t max);

/* A member that must be a string. "" after an error. */
const char *json_read_string(struct json_reader *r, const json_t *object, const char *key);

/* A string, made printable by clean_text() and cut at `size` bytes, NUL included. null gives "". */
void json_read_text(struct json_reader *r, const json_t *object, const char *key, char *out, size_t size);

/* A string "0x..." of at most 64 bits. */
uint64_t json_read_hex(struct json_reader *r, const json_t *object, const char *key);

/* A whole number of 0 to `max`. */
uint64_t json_read_number(struct json_reader *r, const json_t *object, const char *key, uint64_t max);

/* true or false. */
bool json_read_bool(struct json_reader *r, const json_t *object, const char *key);

/* A number of seconds. Returns nanoseconds, rounded to the nearest microsecond. */
uint64_t json_read_seconds(struct json_reader *r, const json_t *object, const char *key);

/* A string of bytes in hexadecimal, at most `max` of them, which are written to `out`. Returns how many there are. */
uint32_t json_read_bytes(struct json_reader *r, const json_t *object, const char *key, uint8_t *out, size_t max);

#endif

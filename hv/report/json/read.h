/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a JSON object from an untrusted source without an error check after each call. The first invalid member sets the error.
 * Every function returns 0, NULL or "" for an invalid member, so that the caller can continue and check `failed` once at the
 * end.
 *
 * Returned pointers belong to the object.
 */
#ifndef OUTRIDER_REPORT_JSON_READ_H
#define OUTRIDER_REPORT_JSON_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

struct json_reader {
	/* Name of the object in messages: "race 12 of 40". */
	const char *what;
	/* Receives the first error, as EXIT_INPUT. */
	struct err *err;
	/* A member was invalid. */
	bool failed;
};

/* Set the error that the member `key` should be `wanted`, a phrase such as "a number". Returns false. */
bool json_read_wrong(struct json_reader *r, const char *key, const char *wanted);

/* Returns a member, or NULL if it is missing or null. Neither is an error. */
const json_t *json_read_optional(const json_t *object, const char *key);

/* Returns a member that must be an object. NULL on error. */
const json_t *json_read_object(struct json_reader *r, const json_t *object, const char *key);

/* Returns a member that must be an array of at most `max` values. NULL on error. */
const json_t *json_read_array(struct json_reader *r, const json_t *object, const char *key, size_t max);

/* Returns a member that must be a string. "" on error. */
const char *json_read_string(struct json_reader *r, const json_t *object, const char *key);

/* Read a string, made printable by clean_text() and truncated to `size` bytes, including the NUL. null is read as "". */
void json_read_text(struct json_reader *r, const json_t *object, const char *key, char *out, size_t size);

/* Returns the value of a member that must be a string "0x..." with a number of at most 64 bits. */
uint64_t json_read_hex(struct json_reader *r, const json_t *object, const char *key);

/* Returns a member that must be a whole number from 0 to `max`. */
uint64_t json_read_number(struct json_reader *r, const json_t *object, const char *key, uint64_t max);

/* Returns a member that must be true or false. Returns false on error. */
bool json_read_bool(struct json_reader *r, const json_t *object, const char *key);

/* Reads a number of seconds. Returns nanoseconds, rounded to a microsecond. */
uint64_t json_read_seconds(struct json_reader *r, const json_t *object, const char *key);

/* Read a string of hexadecimal bytes, at most `max`, into `out`. Returns their number. */
uint32_t json_read_bytes(struct json_reader *r, const json_t *object, const char *key, uint8_t *out, size_t max);

#endif

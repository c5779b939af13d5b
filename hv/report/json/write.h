/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes JSON values without an error check after each call. */
#ifndef OUTRIDER_REPORT_JSON_WRITE_H
#define OUTRIDER_REPORT_JSON_WRITE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hv/base/err.h"

/*
 * Collects failures, so that a report is either complete or not made. A value need not be checked before it is added: jansson's
 * json_object_set_new() and json_array_append_new() return an error for NULL, and leave the container unchanged.
 */
struct json_builder {
	/* A value was NULL or could not be added. Initially false. */
	bool failed;
};

/* Set the member `key` of `object`. Takes ownership of `value`; if that is NULL, sets b->failed. */
void json_put(struct json_builder *b, json_t *object, const char *key, json_t *value);

/* Append to `array`. Takes ownership of `value`; if that is NULL, sets b->failed. */
void json_append(struct json_builder *b, json_t *array, json_t *value);

/*
 * Write a whole document, indented and with a newline at its end, and free it. A write error stays in the stream. Returns 0, or
 * -1 with err set if memory runs out now or ran out before (b->failed).
 */
int json_document_write(FILE *out, struct json_builder *b, json_t *document, struct err *err);

/* The functions below return a new value, or NULL if memory runs out. */

/* Returns a string "0x...", since JSON numbers do not preserve 64 bits. */
json_t *json_hex(uint64_t value);

/* Returns a string of `len` bytes in hexadecimal. */
json_t *json_bytes(const uint8_t *bytes, size_t len);

/* Returns a string from text that is printable already. NULL and "" become null. */
json_t *json_text(const char *text);

/* Returns a whole number, limited to 63 bits: a larger value becomes INT64_MAX. */
json_t *json_whole(uint64_t value);

/* Returns `ns` as a number of seconds, rounded down to a microsecond. */
json_t *json_seconds(uint64_t ns);

/*
 * Returns a printable string from text of the guest or a debug file, which ends at a NUL or after `size` bytes. "" becomes
 * null.
 */
json_t *json_clean(const char *text, size_t size);

/* Returns a build id of `len` bytes as a string in hexadecimal; null if `len` is 0 (unknown) or above 64. */
json_t *json_build_id(const uint8_t *id, size_t len);

#endif

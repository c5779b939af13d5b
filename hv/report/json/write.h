/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making JSON values without a check at each line. */
#ifndef OUTRIDER_REPORT_JSON_WRITE_H
#define OUTRIDER_REPORT_JSON_WRITE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Gathers whether anything failed, so that a report is complete or not made at all: jansson's json_object_set_new() and
 * json_array_append_new() take a NULL value for an error, and leave the container without it.
 */
struct json_builder {
	/* A value was NULL, or could not be put where it belongs. All zero at the start. */
	bool failed;
};

/* Set member `key` of `object`. Consumes `value`, which may be NULL: then the builder has failed. */
void json_put(struct json_builder *b, json_t *object, const char *key, json_t *value);

/* Append to `array`. Consumes `value`, which may be NULL: then the builder has failed. */
void json_append(struct json_builder *b, json_t *array, json_t *value);

/* The functions below make a value. NULL: memory ran out. */

/* A JSON string "0x...", since 64 bits do not survive as a JSON number. */
json_t *json_hex(uint64_t value);

/* A JSON string of `len` bytes in hexadecimal. */
json_t *json_bytes(const uint8_t *bytes, size_t len);

/* A JSON whole number. What does not fit its 63 bits becomes the largest that does. */
json_t *json_whole(uint64_t value);

/* A JSON number of seconds, to the microsecond below `ns` nanoseconds. */
json_t *json_seconds(uint64_t ns);

/* A JSON string made printable, of a text that ends at a NUL or after `size` bytes and comes from the guest or a debug file. ""
 * becomes null. */
json_t *json_clean(const char *text, size_t size);

/* A build id of `len` bytes in hexadecimal. null for length 0, when it is not known, and for more than 64 bytes. */
json_t *json_build_id(const uint8_t *id, size_t len);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making JSON objects without a check at each line. */
#ifndef OUTRIDER_REPORT_JSON_WRITE_H
#define OUTRIDER_REPORT_JSON_WRITE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * json_object_set_new() and json_array_append_new() take NULL values as errors, and leave a container without them. `failed`
 * gathers that, so that a report is complete or not made at all.
 */
struct json_builder {
	bool failed;
};

/* `value` is consumed. */
void put(struct json_builder *b, json_t *object, const char *key, json_t *value);
void add(struct json_builder *b, json_t *array, json_t *value);

/* "0x..." as a JSON string: 64 bits do not survive as JSON numbers. */
json_t *json_hex(uint64_t value);

/* "s.uuuuuu" as a JSON number of seconds, to the microsecond. */
json_t *json_seconds(uint64_t ns);

/* A string of the guest's or from a debug file, of at most `size` bytes, made printable; "" as null. */
json_t *json_clean(const char *text, size_t size);

/* A build id in hexadecimal, or null for one that is not known (length 0). */
json_t *json_build_id(const uint8_t *id, size_t len);

#endif

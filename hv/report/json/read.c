// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a JSON object from an untrusted source: the first invalid member sets the error. */
#include "hv/report/json/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/clean.h"

/* Maximum of a number of seconds: as nanoseconds, a larger number would exceed 64 bits. */
#define SECONDS_MAX 18446744073.0

bool json_read_wrong(struct json_reader *r, const char *key, const char *wanted)
{
	if (!r->failed)
		err_set(r->err, EXIT_INPUT, "%s: \"%s\" is not %s", r->what, key, wanted);
	r->failed = true;
	return false;
}

const json_t *json_read_optional(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_null(value) ? NULL : value;
}

const json_t *json_read_object(struct json_reader *r, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (json_is_object(value))
		return value;
	json_read_wrong(r, key, "an object");
	return NULL;
}

const json_t *json_read_array(struct json_reader *r, const json_t *object, const char *key, size_t max)
{
	const json_t *value = json_object_get(object, key);

	if (json_is_array(value) && json_array_size(value) <= max)
		return value;
	json_read_wrong(r, key, json_is_array(value) ? "a list within its size limit" : "a list");
	return NULL;
}

const char *json_read_string(struct json_reader *r, const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	if (value)
		return value;
	json_read_wrong(r, key, "a string");
	return "";
}

void json_read_text(struct json_reader *r, const json_t *object, const char *key, char *out, size_t size)
{
	const char *value = json_is_null(json_object_get(object, key)) ? "" : json_read_string(r, object, key);

	clean_text(value, strlen(value), out, size);
}

static bool parse_hex(const char *text, uint64_t *out)
{
	char *end;

	if (strncmp(text, "0x", 2) != 0 || !text[2] || strspn(text + 2, "0123456789abcdef") != strlen(text + 2))
		return false;
	errno = 0;
	*out = strtoull(text + 2, &end, 16);
	return !*end && !errno;
}

uint64_t json_read_hex(struct json_reader *r, const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	uint64_t value = 0;

	if (!text || !parse_hex(text, &value))
		json_read_wrong(r, key, "a hexadecimal string of at most 64 bits");
	return value;
}

uint64_t json_read_number(struct json_reader *r, const json_t *object, const char *key, uint64_t max)
{
	const json_t *value = json_object_get(object, key);

	if (json_is_integer(value) && json_integer_value(value) >= 0 && (uint64_t)json_integer_value(value) <= max)
		return (uint64_t)json_integer_value(value);
	json_read_wrong(r, key, "a whole number in its range");
	return 0;
}

bool json_read_bool(struct json_reader *r, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_boolean(value))
		return json_read_wrong(r, key, "true or false");
	return json_is_true(value);
}

uint64_t json_read_seconds(struct json_reader *r, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	double seconds = json_number_value(value);

	if (json_is_number(value) && seconds >= 0 && seconds <= SECONDS_MAX)
		return (uint64_t)(seconds * 1e6 + 0.5) * 1000;
	json_read_wrong(r, key, "a number of seconds");
	return 0;
}

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

uint32_t json_read_bytes(struct json_reader *r, const json_t *object, const char *key, uint8_t *out, size_t max)
{
	const char *text = json_read_string(r, object, key);
	size_t len = strlen(text);

	if (len % 2 || len / 2 > max) {
		json_read_wrong(r, key, "a string of hexadecimal bytes within its size limit");
		return 0;
	}
	for (size_t i = 0; i < len / 2; i++) {
		int high = nibble(text[2 * i]), low = nibble(text[2 * i + 1]);

		if (high < 0 || low < 0) {
			json_read_wrong(r, key, "bytes in hexadecimal");
			return 0;
		}
		out[i] = (uint8_t)(high << 4 | low);
	}
	return (uint32_t)(len / 2);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/report/json/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/clean.h"

#define BUILD_ID_MAX 64 /* bytes */

void json_put(struct json_builder *b, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) < 0)
		b->failed = true;
}

void json_append(struct json_builder *b, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) < 0)
		b->failed = true;
}

int json_document_write(FILE *out, struct json_builder *b, json_t *document, struct err *err)
{
	bool lost = b->failed || !document || (json_dumpf(document, out, JSON_INDENT(1)) < 0 && !ferror(out));

	json_decref(document);
	if (lost)
		return err_set(err, EXIT_INTERNAL, "out of memory while writing JSON");
	fputc('\n', out);
	return 0;
}

json_t *json_hex(uint64_t value)
{
	char text[19];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	return json_string(text);
}

json_t *json_bytes(const uint8_t *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	char *text = malloc(2 * len + 1);
	json_t *string;

	if (!text)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	string = json_stringn(text, 2 * len);
	free(text);
	return string;
}

json_t *json_text(const char *text)
{
	return text && text[0] ? json_string(text) : json_null();
}

json_t *json_whole(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

json_t *json_seconds(uint64_t ns)
{
	return json_real((double)(ns / 1000) / 1e6);
}

json_t *json_clean(const char *text, size_t size)
{
	char *clean;
	json_t *string;

	if (size == 0 || text[0] == '\0')
		return json_null();
	clean = clean_copy(text, size);
	if (!clean)
		return NULL;
	string = json_string(clean);
	free(clean);
	return string;
}

json_t *json_build_id(const uint8_t *id, size_t len)
{
	char hex[2 * BUILD_ID_MAX + 1];

	if (!len || len > BUILD_ID_MAX)
		return json_null();
	for (size_t i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	return json_string(hex);
}

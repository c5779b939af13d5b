// SPDX-License-Identifier: GPL-2.0-or-later
/* Compresses texts, such as races' records and coverage, for the store. */
#include "hv/campaign/store/compress.h"

#include <endian.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/*
 * Limits that keep a small damaged or hostile record from unpacking to a huge text. Coverage and records are estimated to
 * compress to between a tenth and a fifth of their size; zlib's maximum is 1032 to 1. So a text of more than RATIO_FREE bytes
 * (1 MiB) may be at most RATIO_MAX times as large as its record.
 */
#define RATIO_MAX 64
#define RATIO_FREE (1u << 20)
#define HEAD sizeof(uint32_t) /* the length of the text, little-endian */

void *record_compress(const char *text, size_t len, size_t *size, struct err *err)
{
	uLongf room = compressBound(len);
	uint8_t *data;
	uint32_t head = htole32((uint32_t)len);

	if (len > COMPRESS_TEXT_MAX) {
		err_set(err, EXIT_INPUT, "%zu MiB of text are too much for one record of the store", len >> 20);
		return NULL;
	}
	data = malloc(HEAD + room);
	if (!data || compress2(data + HEAD, &room, (const Bytef *)text, len, Z_DEFAULT_COMPRESSION) != Z_OK) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		free(data);
		return NULL;
	}
	memcpy(data, &head, HEAD);
	*size = HEAD + room;
	return data;
}

char *record_decompress(const void *data, size_t size, const char *where, struct err *err)
{
	const uint8_t *bytes = data;
	uLongf len = 0;
	uint32_t head;
	char *text;

	if (size >= HEAD) {
		memcpy(&head, bytes, HEAD);
		len = le32toh(head);
	}
	if (size < HEAD || len > COMPRESS_TEXT_MAX || (len > RATIO_FREE && len / RATIO_MAX > size)) {
		err_set(err, EXIT_INPUT, "%s: the store is damaged: the length of a record is not valid", where);
		return NULL;
	}
	text = malloc(len + 1);
	if (!text) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	if (uncompress((Bytef *)text, &len, bytes + HEAD, size - HEAD) != Z_OK || len != le32toh(head)) {
		err_set(err, EXIT_INPUT, "%s: the store is damaged: a record cannot be unpacked", where);
		free(text);
		return NULL;
	}
	text[len] = '\0';
	return text;
}

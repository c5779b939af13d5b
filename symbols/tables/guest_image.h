/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A copy of a stretch of guest memory, for searching. Private to symbols/. */
#ifndef OUTRIDER_SYMBOLS_TABLES_GUEST_IMAGE_H
#define OUTRIDER_SYMBOLS_TABLES_GUEST_IMAGE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "hv/base/err.h"
#include "hv/base/guest_reader.h"

struct guest_image {
	uint64_t base;	/* GVA of bytes[0] */
	size_t first;	/* offset of the first chunk that has anything in it */
	size_t len;	/* up to the end of the last one */
	uint8_t *bytes; /* what could not be read is zero */
};

/* Copy [start, end), at most 1 GiB; -1 with err when the range is senseless, nothing in it can be read, or memory is out. */
int guest_image_read(const struct guest_reader *reader, uint64_t start, uint64_t end, struct guest_image *out, struct err *err);
void guest_image_free(struct guest_image *image);

/* Little-endian values at a byte offset that the caller has checked to be inside. */
static inline uint16_t guest_image_u16(const struct guest_image *image, size_t offset)
{
	uint16_t v;

	memcpy(&v, image->bytes + offset, sizeof(v));
	return v;
}

static inline uint32_t guest_image_u32(const struct guest_image *image, size_t offset)
{
	uint32_t v;

	memcpy(&v, image->bytes + offset, sizeof(v));
	return v;
}

static inline uint64_t guest_image_u64(const struct guest_image *image, size_t offset)
{
	uint64_t v;

	memcpy(&v, image->bytes + offset, sizeof(v));
	return v;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A copy of a range of guest memory, for searching. The range is copied in chunks of 64 KiB. Private to symbols/tables. */
#ifndef OUTRIDER_SYMBOLS_TABLES_GUEST_IMAGE_H
#define OUTRIDER_SYMBOLS_TABLES_GUEST_IMAGE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "hv/base/err.h"
#include "hv/base/guest_reader.h"

struct guest_image {
	uint64_t base;	/* GVA of bytes[0] */
	size_t first;	/* offset of the first chunk that was at least partly readable */
	size_t len;	/* offset of the end of the last chunk that was at least partly readable */
	uint8_t *bytes; /* unreadable bytes are zero; freed by guest_image_free() */
};

/*
 * Copy the GVAs from `start` to `end`, at most 1 GiB. Unreadable pages stay zero. Returns 0, or -1 with EXIT_INPUT if the whole
 * range is unreadable, and with EXIT_INTERNAL if the range is invalid or memory runs out.
 */
int guest_image_read(const struct guest_reader *reader, uint64_t start, uint64_t end, struct guest_image *out, struct err *err);

/* Free the copy. May be called more than once for an image. */
void guest_image_free(struct guest_image *image);

/* Returns the little-endian value at a byte offset. The caller has checked that the value ends at or below image->len. */
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

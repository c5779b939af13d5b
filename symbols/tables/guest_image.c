/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies a range of guest memory, for searching. */
#include <inttypes.h>
#include <stdlib.h>

#include "hv/base/linux_image.h"
#include "hv/base/x86.h"
#include "symbols/tables/guest_image.h"

#define CHUNK (64u << 10) /* bytes per read */
#define MAX_BYTES (LINUX_IMAGE_END - LINUX_IMAGE_START)

/*
 * Copy the readable parts of a chunk, the `len` bytes at `gva`, to `to`, which the caller has zeroed. Returns the number of
 * bytes copied. If the chunk cannot be read as a whole, copy page by page: holes (freed init text, gaps between sections) are
 * smaller than a chunk. Read into `bounce` first, because a failed read may leave garbage in its buffer. Pages of `to` that are
 * not written use no memory.
 */
static size_t read_chunk(const struct guest_reader *reader, uint64_t gva, uint8_t *to, size_t len, uint8_t *bounce)
{
	size_t got = 0;

	if (!reader->read(reader->ctx, gva, bounce, len)) {
		memcpy(to, bounce, len);
		return len;
	}
	for (size_t pos = 0; pos < len; pos += X86_PAGE_SIZE) {
		size_t n = len - pos < X86_PAGE_SIZE ? len - pos : X86_PAGE_SIZE;

		if (!reader->read(reader->ctx, gva + pos, bounce, n)) {
			memcpy(to + pos, bounce, n);
			got += n;
		}
	}
	return got;
}

int guest_image_read(const struct guest_reader *reader, uint64_t start, uint64_t end, struct guest_image *out, struct err *err)
{
	size_t room;
	uint8_t *bounce = NULL;

	*out = (struct guest_image){.base = start & ~(uint64_t)(X86_PAGE_SIZE - 1)};
	if (end <= start || end - out->base > MAX_BYTES)
		return err_set(err, EXIT_INTERNAL, "kernel image: %#" PRIx64 " to %#" PRIx64 " is not a kernel's range", start,
			       end);
	room = end - out->base;
	bounce = malloc(CHUNK);
	out->bytes = calloc(1, room);
	if (!bounce || !out->bytes) {
		err_set(err, EXIT_INTERNAL, "kernel image: out of memory");
		goto fail;
	}
	for (size_t pos = 0; pos < room; pos += CHUNK) {
		size_t n = room - pos < CHUNK ? room - pos : CHUNK;

		if (read_chunk(reader, out->base + pos, out->bytes + pos, n, bounce)) {
			if (!out->len)
				out->first = pos;
			out->len = pos + n;
		}
	}
	if (!out->len) {
		err_set(err, EXIT_INPUT, "kernel image: nothing mapped from %#" PRIx64 " to %#" PRIx64, start, end);
		goto fail;
	}
	free(bounce);
	return 0;
fail:
	free(bounce);
	guest_image_free(out);
	return -1;
}

void guest_image_free(struct guest_image *image)
{
	free(image->bytes);
	*image = (struct guest_image){0};
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A buffer to which tests append bytes, and guest memory that consists of a few such buffers. */
#ifndef OUTRIDER_TESTS_UNIT_TEST_SYM_BLOB_H
#define OUTRIDER_TESTS_UNIT_TEST_SYM_BLOB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/guest_reader.h"

struct blob {
	uint8_t *bytes;
	size_t len, room;
};

static inline size_t blob_put(struct blob *b, const void *data, size_t len)
{
	size_t at = b->len;

	if (b->room < b->len + len) {
		b->room = 2 * (b->len + len);
		b->bytes = realloc(b->bytes, b->room);
		assert_non_null(b->bytes);
	}
	if (len)
		memcpy(b->bytes + b->len, data, len);
	b->len += len;
	return at;
}

static inline size_t blob_u8(struct blob *b, unsigned v)
{
	uint8_t x = (uint8_t)v;

	return blob_put(b, &x, sizeof(x));
}

static inline size_t blob_u16(struct blob *b, unsigned v)
{
	uint16_t x = (uint16_t)v;

	return blob_put(b, &x, sizeof(x));
}

static inline size_t blob_u32(struct blob *b, uint32_t v)
{
	return blob_put(b, &v, sizeof(v));
}

static inline size_t blob_u64(struct blob *b, uint64_t v)
{
	return blob_put(b, &v, sizeof(v));
}

/* Append a string with its NUL. Returns its offset. */
static inline size_t blob_string(struct blob *b, const char *s)
{
	return blob_put(b, s, strlen(s) + 1);
}

static inline void blob_align(struct blob *b, size_t to)
{
	while (b->len % to)
		blob_u8(b, 0);
}

static inline void blob_free(struct blob *b)
{
	free(b->bytes);
	*b = (struct blob){0};
}

struct fake_range {
	uint64_t gva;
	const uint8_t *bytes;
	size_t len;
};

struct fake_memory {
	struct fake_range ranges[8];
	unsigned count;
	unsigned reads;
	void (*on_read)(struct fake_memory *mem, uint64_t gva); /* called at each read, to change the memory meanwhile */
	void *user;
};

static inline int fake_read(void *ctx, uint64_t gva, void *buf, size_t len)
{
	struct fake_memory *mem = ctx;

	mem->reads++;
	if (mem->on_read)
		mem->on_read(mem, gva);
	for (unsigned i = 0; i < mem->count; i++) {
		const struct fake_range *r = &mem->ranges[i];

		if (gva >= r->gva && gva - r->gva <= r->len && len <= r->len - (gva - r->gva)) {
			memcpy(buf, r->bytes + (gva - r->gva), len);
			return 0;
		}
	}
	/* A failed read may leave any bytes in the buffer. */
	memset(buf, 0xa5, len);
	return -1;
}

static inline void fake_memory_map(struct fake_memory *mem, uint64_t gva, const void *bytes, size_t len)
{
	assert_true(mem->count < sizeof(mem->ranges) / sizeof(mem->ranges[0]));
	mem->ranges[mem->count++] = (struct fake_range){gva, bytes, len};
}

static inline struct guest_reader fake_reader(struct fake_memory *mem)
{
	return (struct guest_reader){.read = fake_read, .ctx = mem};
}

#endif

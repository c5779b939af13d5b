/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading little-endian values one after the other from bytes that may end anywhere. Private to symbols/dwarf/. A read past the
 * end gives 0, sets `bad`, and leaves the position where it is. After that every read fails.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_CURSOR_H
#define OUTRIDER_SYMBOLS_DWARF_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct di_cursor {
	const uint8_t *bytes;
	uint64_t at;  /* Offset in `bytes` of the next read. It is never above `end`. */
	uint64_t end; /* Offset of the first byte that must not be read. */
	bool bad;     /* A read has failed. */
};

/* Whether there is anything left to read. */
static inline bool di_more(const struct di_cursor *c)
{
	return !c->bad && c->at < c->end;
}

/* Read a number of `width` bytes, 8 at most. */
static inline uint64_t di_take(struct di_cursor *c, size_t width)
{
	uint64_t v = 0;

	if (c->bad || c->end - c->at < width) {
		c->bad = true;
		return 0;
	}
	memcpy(&v, c->bytes + c->at, width);
	c->at += width;
	return v;
}

/* Pass over `n` bytes. */
static inline void di_skip(struct di_cursor *c, uint64_t n)
{
	if (c->bad || c->end - c->at < n)
		c->bad = true;
	else
		c->at += n;
}

/* Read a LEB128 number (DWARF 5 section 7.6). Bits that do not fit in 64 are cut off. */
static inline uint64_t di_leb(struct di_cursor *c, bool with_sign)
{
	uint64_t v = 0, byte;
	unsigned shift = 0;

	do {
		byte = di_take(c, 1);
		if (shift < 64)
			v |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (with_sign && shift < 64 && byte & 0x40)
		v |= ~0ull << shift;
	return v;
}

static inline uint64_t di_uleb(struct di_cursor *c)
{
	return di_leb(c, false);
}

static inline int64_t di_sleb(struct di_cursor *c)
{
	return (int64_t)di_leb(c, true);
}

/* Read a string. NULL: the bytes end before the string does. */
static inline const char *di_cstring(struct di_cursor *c)
{
	const uint8_t *s = c->bytes + c->at;
	const uint8_t *nul = c->bad ? NULL : memchr(s, 0, c->end - c->at);

	if (!nul) {
		c->bad = true;
		return NULL;
	}
	c->at += (uint64_t)(nul - s) + 1;
	return (const char *)s;
}

/*
 * Read the length that units and tables begin with (DWARF 5 section 7.4). c->end becomes the end of the unit or table, and
 * *width the bytes that an offset has in it, 4 or 8. Returns false when the end lies beyond the bytes.
 */
static inline bool di_enter(struct di_cursor *c, size_t *width)
{
	uint64_t length = di_take(c, 4);

	*width = 4;
	if (length == 0xffffffff) {
		length = di_take(c, 8);
		*width = 8;
	}
	if (c->bad || length > c->end - c->at) {
		c->bad = true;
		return false;
	}
	c->end = c->at + length;
	return true;
}

#endif

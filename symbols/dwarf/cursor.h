/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads little-endian values in sequence from untrusted bytes. Private to symbols/dwarf/. A read past the end returns 0, sets
 * `bad` and does not move the position. After a failed read, every read fails.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_CURSOR_H
#define OUTRIDER_SYMBOLS_DWARF_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct di_cursor {
	const uint8_t *bytes;
	uint64_t at;  /* Offset in `bytes` of the next read; never above `end`. */
	uint64_t end; /* Offset of the first byte after the readable bytes. */
	bool bad;     /* A read has failed. */
};

/* Returns true if bytes are left and no read has failed. */
static inline bool di_more(const struct di_cursor *c)
{
	return !c->bad && c->at < c->end;
}

/* Read a number of `width` bytes, at most 8. */
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

/* Skip `n` bytes. */
static inline void di_skip(struct di_cursor *c, uint64_t n)
{
	if (c->bad || c->end - c->at < n)
		c->bad = true;
	else
		c->at += n;
}

/* Read a LEB128 number (DWARF 5 section 7.6). Bits above the lowest 64 are dropped. */
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

/* Read a string. Returns NULL if no NUL follows. */
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
 * Read the length field that begins a unit or table (DWARF 5 section 7.4). Sets c->end to the end of the unit or table, and
 * *width to the size of an offset in it, 4 or 8 bytes. Returns false if the unit or table would end after the readable bytes.
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

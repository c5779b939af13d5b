// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes untrusted text safe for terminals, JSON, XML, HTML and logs that programs parse. */
#include "hv/base/clean.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPE_LEN 4 /* bytes of \xHH */

/* A text that is made piece by piece in a buffer of limited size. One byte of the buffer is always left for the NUL. */
struct copy {
	char *out;
	size_t used, size;
};

/* Append `n` bytes to the copy. Returns false and appends nothing if they do not fit. */
static bool add(struct copy *c, const char *bytes, size_t n)
{
	if (c->used + n >= c->size)
		return false;
	memcpy(c->out + c->used, bytes, n);
	c->used += n;
	return true;
}

static bool add_escaped(struct copy *c, const char *bytes, size_t n)
{
	char escape[ESCAPE_LEN + 1];

	for (size_t i = 0; i < n; i++) {
		snprintf(escape, sizeof(escape), "\\x%02x", (unsigned char)bytes[i]);
		if (!add(c, escape, ESCAPE_LEN))
			return false;
	}
	return true;
}

static bool is_escape(const char *text, size_t n)
{
	return n >= ESCAPE_LEN && text[0] == '\\' && text[1] == 'x' && isxdigit((unsigned char)text[2]) &&
	       isxdigit((unsigned char)text[3]);
}

static bool is_plain(char c)
{
	return c >= ' ' && c <= '~' && c != '\\';
}

void clean_text(const char *text, size_t n, char *out, size_t size)
{
	struct copy c = {.out = out, .size = size};
	size_t len = strnlen(text, n), step;
	bool fits = true;

	for (size_t i = 0; i < len && fits; i += step) {
		step = is_escape(text + i, len - i) ? ESCAPE_LEN : 1;
		if (step == ESCAPE_LEN || is_plain(text[i]))
			fits = add(&c, text + i, step);
		else
			fits = add_escaped(&c, text + i, 1);
	}
	out[c.used] = '\0';
}

void unclean_text(const char *clean, char *out, size_t size)
{
	size_t used = 0, step;
	unsigned byte;

	for (; *clean && used + 1 < size; clean += step) {
		step = is_escape(clean, strlen(clean)) ? ESCAPE_LEN : 1;
		byte = (unsigned char)*clean;
		if (step == ESCAPE_LEN)
			sscanf(clean + 2, "%2x", &byte);
		out[used++] = (char)byte;
	}
	out[used] = '\0';
}

char *clean_copy(const char *text, size_t n)
{
	size_t room = CLEAN_MAX(strnlen(text, n));
	char *copy = malloc(room);

	if (copy)
		clean_text(text, n, copy, room);
	return copy;
}

void clean_field(char *text, size_t size)
{
	char clean[CLEAN_FIELD_MAX];

	clean_text(text, size, clean, size < sizeof(clean) ? size : sizeof(clean));
	memcpy(text, clean, strlen(clean) + 1);
}

/*
 * Returns the length of the UTF-8 sequence at `text` (RFC 3629) and sets *code to its code point. Returns 0 if the sequence is
 * invalid.
 */
static size_t sequence(const char *text, size_t n, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char first = (unsigned char)text[0];
	size_t len = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;

	if (!len || len > n)
		return 0;
	*code = len == 1 ? first : first & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (text[i] & 0x3f);
	}
	return *code < least[len] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ? 0 : len;
}

/* Returns true for control characters and for characters that reorder or hide text. */
static bool is_treacherous(uint32_t code)
{
	return code < ' ' || (code >= 0x7f && code < 0xa0) || code == 0xad || code == 0x61c || code == 0x180e ||
	       (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
	       code == 0xfeff || (code >= 0xe0000 && code < 0xe0080);
}

void clean_line(char *text, size_t size)
{
	char clean[CLEAN_FIELD_MAX];
	struct copy c = {.out = clean, .size = size < sizeof(clean) ? size : sizeof(clean)};
	size_t len = strnlen(text, size);
	bool fits = true;

	for (size_t i = 0; i < len && fits;) {
		uint32_t code = 0;
		size_t step = sequence(text + i, len - i, &code);

		if (step && !is_treacherous(code))
			fits = add(&c, text + i, step);
		else
			fits = add_escaped(&c, text + i, step ? step : 1);
		i += step ? step : 1;
	}
	clean[c.used] = '\0';
	memcpy(text, clean, c.used + 1);
}

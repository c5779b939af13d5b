// SPDX-License-Identifier: GPL-2.0-or-later
/* Folds lines of text to the width of a terminal. */
#include "hv/report/text/fold.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct fold {
	FILE *to;
	size_t width;
	char *line; /* The current line, without its newline. */
	size_t len, size;
};

/*
 * Returns the number of bytes at `text` without width: an escape sequence for a colour (ESC to m), or a UTF-8 continuation
 * byte.
 */
static size_t no_room(const char *text, size_t len)
{
	const char *end = text[0] == '\033' ? memchr(text, 'm', len) : NULL;

	if (end)
		return (size_t)(end - text) + 1;
	return ((unsigned char)text[0] & 0xc0) == 0x80 ? 1 : 0;
}

/*
 * Returns the number of bytes of `text` that fit into `room` characters: all of them, or up to a blank where the line is
 * broken. Never less than the first word.
 */
static size_t part_that_fits(const char *text, size_t len, size_t room)
{
	size_t at = 0, blank = 0, used = 0;
	bool word = false;

	while (at < len) {
		size_t skip = no_room(text + at, len - at);

		if (skip) {
			at += skip;
			continue;
		}
		if (text[at] == ' ' && word && used <= room)
			blank = at;
		if (text[at] == ' ' && used > room)
			break;
		word |= text[at] != ' ';
		used++;
		at++;
	}
	if (used <= room)
		return len;
	return blank ? blank : at;
}

/* Returns the number of leading blanks of a line, ignoring colours. */
static size_t blanks_before(const char *line, size_t len)
{
	size_t blanks = 0;

	for (size_t at = 0; at < len;) {
		size_t skip = no_room(line + at, len - at);

		if (!skip && line[at] != ' ')
			break;
		blanks += skip == 0;
		at += skip ? skip : 1;
	}
	return blanks;
}

static void write_line(struct fold *f)
{
	size_t indent = blanks_before(f->line, f->len), at = 0, room = f->width;

	if (indent + 4 < f->width / 2)
		indent += 4;
	while (at < f->len) {
		size_t part = part_that_fits(f->line + at, f->len - at, room), shown = part;

		while (at + part < f->len && shown && f->line[at + shown - 1] == ' ')
			shown--;
		fwrite(f->line + at, 1, shown, f->to);
		at += part;
		while (at < f->len && f->line[at] == ' ')
			at++;
		if (at < f->len)
			fprintf(f->to, "\n%*s", (int)indent, "");
		room = f->width > indent ? f->width - indent : 1;
	}
	f->len = 0;
}

static ssize_t take(void *cookie, const char *bytes, size_t count)
{
	struct fold *f = cookie;

	if (f->len + count + 1 > f->size) {
		size_t size = 2 * (f->len + count + 1);
		char *line = realloc(f->line, size);

		if (!line) {
			errno = ENOMEM;
			return 0;
		}
		f->line = line;
		f->size = size;
	}
	for (size_t i = 0; i < count; i++) {
		f->line[f->len] = '\0';
		if (bytes[i] == '\n') {
			write_line(f);
			putc('\n', f->to);
		} else {
			f->line[f->len++] = bytes[i];
		}
	}
	return (ssize_t)count;
}

static int end(void *cookie)
{
	struct fold *f = cookie;

	if (f->len) {
		f->line[f->len] = '\0';
		write_line(f);
	}
	free(f->line);
	free(f);
	return 0;
}

FILE *fold_open(FILE *to, unsigned width)
{
	struct fold *f = calloc(1, sizeof(*f));
	FILE *file;

	if (!f)
		return NULL;
	f->to = to;
	f->width = width;
	file = fopencookie(f, "w", (cookie_io_functions_t){.write = take, .close = end});
	if (!file)
		free(f);
	return file;
}

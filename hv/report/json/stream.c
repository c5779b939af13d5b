// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a JSON file value by value, so that only one value is in memory. */
#include "hv/report/json/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/file_magic.h"

#define BUFFER_SIZE 65536 /* bytes */
/*
 * The first call of give() passes at most this many bytes of a value to jansson. The number is small, because the bytes after a
 * small value must be passed again for the next value.
 */
#define FIRST_GIVE 64
/* Bytes that stay in the buffer after they were passed to jansson. jansson reads ahead by 1 KiB, which is less. */
#define KEEP 4096

struct json_stream {
	const char *path;
	FILE *file;
	int error;	 /* errno of a failed read; 0: none */
	uint64_t before; /* bytes of the file before the buffer */
	uint64_t line;	 /* line of the next byte, from 1 */
	/* Position of the next byte, and end of the buffered bytes. */
	size_t pos, len;
	char buffer[BUFFER_SIZE];
};

/*
 * State during one json_load_callback(): the number of bytes passed to jansson, so that the bytes after the value can be read
 * again.
 */
struct feed {
	struct json_stream *s;
	size_t given;
	bool too_long;
};

void json_stream_close(struct json_stream *s)
{
	if (!s)
		return;
	if (s->file != stdin)
		fclose(s->file);
	free(s);
}

/* If all buffered bytes are used, read more. Returns false at the end of the file, or if it cannot be read. */
static bool fill(struct json_stream *s)
{
	size_t drop = s->pos > KEEP ? s->pos - KEEP : 0;

	if (s->pos < s->len)
		return true;
	memmove(s->buffer, s->buffer + drop, s->len - drop);
	s->before += drop;
	s->pos -= drop;
	s->len -= drop;
	s->len += fread(s->buffer + s->len, 1, BUFFER_SIZE - s->len, s->file);
	if (ferror(s->file))
		s->error = errno;
	return s->pos < s->len;
}

/* If the file's first bytes show that the file is not JSON, set the error and return -1. Otherwise return 0. */
static int check_begin(const struct json_stream *s, struct err *err)
{
	const struct file_magic *magic = file_magic(s->buffer, s->len);

	if (!s->len && !s->error)
		return err_set(err, EXIT_INPUT,
			       "%s: empty: the program that wrote it was killed before it began, or the disk was full",
			       s->path);
	if (magic && magic->unpack)
		return err_set(err, EXIT_INPUT,
			       "%s: %s: unpack it first, or pipe what `%s` prints into this command, with - as the file",
			       s->path, magic->what, magic->unpack);
	if (magic)
		return err_set(err, EXIT_INPUT, "%s: %s, and no report or coverage of `outrider run`: %s", s->path, magic->what,
			       magic->instead);
	return 0;
}

struct json_stream *json_stream_open(const char *path, struct err *err)
{
	struct json_stream *s = calloc(1, sizeof(*s));

	if (!s) {
		err_set(err, EXIT_INTERNAL, "%s: out of memory", path);
		return NULL;
	}
	s->path = path;
	s->line = 1;
	s->file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	if (!s->file) {
		err_set(err, EXIT_INPUT, "%s: %s", path, strerror(errno));
		free(s);
		return NULL;
	}
	fill(s);
	if (check_begin(s, err) == 0)
		return s;
	json_stream_close(s);
	return NULL;
}

static uint64_t lines_in(const char *text, size_t len)
{
	const char *end = text + len;
	uint64_t lines = 0;

	while ((text = memchr(text, '\n', (size_t)(end - text)))) {
		lines++;
		text++;
	}
	return lines;
}

static bool skip_blanks(struct json_stream *s)
{
	while (fill(s)) {
		char c = s->buffer[s->pos];

		if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
			return true;
		s->line += c == '\n';
		s->pos++;
	}
	return false;
}

bool json_stream_take(struct json_stream *s, char c)
{
	if (!skip_blanks(s) || s->buffer[s->pos] != c)
		return false;
	s->pos++;
	return true;
}

bool json_stream_at_end(struct json_stream *s)
{
	return !skip_blanks(s) && !s->error;
}

static size_t give(void *buffer, size_t size, void *data)
{
	struct feed *feed = data;
	struct json_stream *s = feed->s;

	feed->too_long = feed->given > JSON_STREAM_VALUE_MAX;
	if (feed->too_long || !fill(s))
		return feed->too_long || s->error ? (size_t)-1 : 0;
	if (size > s->len - s->pos)
		size = s->len - s->pos;
	if (size > (feed->given ? KEEP : FIRST_GIVE))
		size = feed->given ? KEEP : FIRST_GIVE;
	memcpy(buffer, s->buffer + s->pos, size);
	s->line += lines_in(s->buffer + s->pos, size);
	s->pos += size;
	feed->given += size;
	return size;
}

/*
 * Move `pos` back to the first byte after the value. jansson reports how many bytes it used. jansson has read ahead by fewer
 * bytes than one call of give() passes to it. The bytes that were read ahead are still in the buffer, since fill() keeps the
 * last KEEP bytes.
 */
static void take_back(const struct feed *feed, size_t used)
{
	struct json_stream *s = feed->s;
	size_t excess = feed->given - used;

	s->pos -= excess;
	s->line -= lines_in(s->buffer + s->pos, excess);
}

/*
 * Set the error for a place in the file: `line` and `byte` count from 1. If a read has failed, that is the error instead.
 * Returns -1.
 */
static int wrong_at(const struct json_stream *s, uint64_t line, uint64_t byte, const char *what, struct err *err)
{
	if (s->error)
		return err_set(err, EXIT_INPUT, "%s: %s", s->path, strerror(s->error));
	return err_set(err, EXIT_INPUT,
		       "%s: line %" PRIu64 ", byte %" PRIu64
		       ": %.160s; it is no report or coverage of `outrider run`, or a damaged one",
		       s->path, line, byte, what);
}

json_t *json_stream_value(struct json_stream *s, struct err *err)
{
	struct feed feed = {.s = s};
	json_error_t error;
	json_t *value;
	uint64_t line, byte;

	skip_blanks(s);
	line = s->line;
	byte = s->before + s->pos;
	value = json_load_callback(give, &feed, JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, &error);
	if (value) {
		take_back(&feed, (size_t)error.position);
		return value;
	}
	if (feed.too_long)
		wrong_at(s, line, byte + 1, "a value too long for a report begins here", err);
	else if (!error.text[0])
		err_set(err, EXIT_INTERNAL, "%s: out of memory", s->path);
	else
		wrong_at(s, line + (uint64_t)error.line - 1, byte + (uint64_t)error.position, error.text, err);
	return NULL;
}

int json_stream_wrong(const struct json_stream *s, const char *wanted, struct err *err)
{
	return wrong_at(s, s->line, s->before + s->pos + 1, wanted, err);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads and parses the files of rule lists, suppressions and assertions: stanzas of one [kind] line and "key = value" lines. */
#include "pruner/lists/conf.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* First size of the buffer for a file, in bytes. Most lists fit. For longer files, the buffer is doubled up to FILE_MAX. */
#define FILE_FIRST (16u << 10)
/* A file of this size in bytes, or of a greater size, is refused: no list that people write is that long. */
#define FILE_MAX (4u << 20)
#define GLOB_MAX 256

int conf_wrong(const char *file, unsigned line, struct err *err, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(err, EXIT_INPUT, "%s:%u: %s", file, line, text);
}

static char *trim(char *text)
{
	char *end;

	text += strspn(text, " \t");
	end = text + strlen(text);
	while (end > text && strchr(" \t\r", end[-1]))
		*--end = '\0';
	return text;
}

static int take_kind(struct conf_stanza *s, char *line, unsigned number, struct err *err)
{
	char *end = strchr(line, ']');

	if (!end || end[1])
		return conf_wrong(s->file, number, err, "a stanza begins with [kind] on a line of its own");
	*end = '\0';
	s->kind = line + 1;
	s->line = number;
	s->count = 0;
	return 0;
}

static int take_field(struct conf_stanza *s, char *line, unsigned number, struct err *err)
{
	char *value = strchr(line, '=');

	if (!value)
		return conf_wrong(s->file, number, err, "neither [kind] nor key = value");
	if (!s->kind)
		return conf_wrong(s->file, number, err, "a line with [kind] must come before this line");
	if (s->count == CONF_FIELDS_MAX)
		return conf_wrong(s->file, number, err, "more than %d lines in a stanza", CONF_FIELDS_MAX);
	*value++ = '\0';
	s->fields[s->count++] = (struct conf_field){number, trim(line), trim(value)};
	return 0;
}

static int finish(const struct conf_stanza *s, conf_each each, void *ctx, struct err *err)
{
	return s->kind ? each(ctx, s, err) : 0;
}

static int parse_lines(struct conf_stanza *s, char *text, conf_each each, void *ctx, struct err *err)
{
	unsigned number = 0;
	int rc = 0;

	for (char *line, *next = text; next && rc == 0;) {
		line = next;
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		number++;
		line = trim(line);
		if (!*line || *line == '#')
			continue;
		if (*line == '[') {
			rc = finish(s, each, ctx, err);
			rc = rc ? rc : take_kind(s, line, number, err);
		} else {
			rc = take_field(s, line, number, err);
		}
	}
	return rc ? rc : finish(s, each, ctx, err);
}

int conf_parse(const char *name, const char *text, size_t len, conf_each each, void *ctx, struct err *err)
{
	struct conf_stanza s = {.file = name};
	char *copy = malloc(len + 1);
	int rc;

	if (!copy)
		return err_set(err, EXIT_INTERNAL, "out of memory while reading %s", name);
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (strlen(copy) != len)
		rc = err_set(err, EXIT_INPUT, "%s: not a text file", name);
	else
		rc = parse_lines(&s, copy, each, ctx, err);
	free(copy);
	return rc;
}

/* Read the file, at most FILE_MAX bytes of it. Returns the bytes, which the caller frees, or NULL with `err` set. */
static char *read_all(FILE *file, const char *path, size_t *len, struct err *err)
{
	size_t room = FILE_FIRST;
	char *text = malloc(room), *grown = text;

	*len = 0;
	while (grown) {
		*len += fread(text + *len, 1, room - *len, file);
		if (*len < room || room == FILE_MAX)
			return text;
		room *= 2;
		grown = realloc(text, room);
		text = grown ? grown : text;
	}
	free(text);
	err_set(err, EXIT_INTERNAL, "out of memory while reading %s", path);
	return NULL;
}

int conf_read(const char *path, conf_each each, void *ctx, struct err *err)
{
	FILE *file = fopen(path, "re");
	char *text;
	size_t len;
	int rc = -1;

	if (!file)
		return err_set(err, EXIT_INPUT, "%s: %s", path, strerror(errno));
	text = read_all(file, path, &len, err);
	if (text && ferror(file))
		err_set(err, EXIT_INPUT, "%s: cannot be read: %s", path, strerror(errno));
	else if (text && len == FILE_MAX)
		err_set(err, EXIT_INPUT, "%s: %u MiB or more, too large for a list", path, FILE_MAX >> 20);
	else if (text)
		rc = conf_parse(path, text, len, each, ctx, err);
	fclose(file);
	free(text);
	return rc;
}

int conf_match(const char *globs, const char *text)
{
	char glob[GLOB_MAX];

	while (*(globs += strspn(globs, " \t"))) {
		size_t len = strcspn(globs, " \t");

		if (len < sizeof(glob)) {
			memcpy(glob, globs, len);
			glob[len] = '\0';
			if (fnmatch(glob, text, 0) == 0)
				return 1;
		}
		globs += len;
	}
	return 0;
}

int conf_fits(const char *globs, const char *text)
{
	return !globs || (text[0] && conf_match(globs, text));
}

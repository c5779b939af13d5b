// SPDX-License-Identifier: GPL-2.0-or-later
#include "pruner/statement.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LINES_MAX 6
#define LINE_KEPT (STATEMENT_MAX / LINES_MAX - 1)

struct source {
	FILE *file;
	bool in_comment; /* A comment has begun in an earlier line. */
};

static FILE *open_below(const char *folder, const char *file)
{
	char path[4096];

	file += strspn(file, "./");
	if (!*file || strstr(file, "..") || snprintf(path, sizeof(path), "%s/%s", folder, file) >= (int)sizeof(path))
		return NULL;
	return fopen(path, "re");
}

/* Returns the place behind the quote that ends the text which begins with `quote`, or the line's end. */
static int skip_quoted(FILE *file, int quote)
{
	int c = fgetc(file);

	while (c != quote && c != '\n' && c != EOF) {
		/* A character behind a backslash is skipped, except a line's end. */
		if (c == '\\')
			c = fgetc(file);
		if (c != '\n')
			c = fgetc(file);
	}
	return c == quote ? fgetc(file) : c;
}

static int skip_comment(struct source *s)
{
	int c = fgetc(s->file), before = 0;

	while (c != '\n' && c != EOF && !(before == '*' && c == '/')) {
		before = c;
		c = fgetc(s->file);
	}
	s->in_comment = c == '\n' || c == EOF;
	return s->in_comment ? c : fgetc(s->file);
}

static int skip_line(FILE *file)
{
	int c = fgetc(file);

	while (c != '\n' && c != EOF)
		c = fgetc(file);
	return c;
}

/* Returns the next character of code at or behind `c`, or '\n' or EOF. */
static int to_code(struct source *s, int c)
{
	int next;

	for (;;) {
		if (c == '"' || c == '\'') {
			c = skip_quoted(s->file, c);
			continue;
		}
		if (c != '/')
			return c;
		next = fgetc(s->file);
		if (next == '/')
			return skip_line(s->file);
		if (next != '*') {
			ungetc(next, s->file);
			return c;
		}
		c = skip_comment(s);
	}
}

/* Read the next line's code, which is cut if it is very long. Returns false when there is no line any more. */
static bool next_line(struct source *s, char line[LINE_KEPT + 1])
{
	size_t len = 0;
	int c = s->in_comment ? skip_comment(s) : fgetc(s->file);

	line[0] = '\0';
	if (c == EOF)
		return false;
	for (c = to_code(s, c); c != '\n' && c != EOF; c = to_code(s, fgetc(s->file))) {
		/* The rest is the preprocessor's. */
		if (c == '#' && len == strspn(line, " \t")) {
			skip_line(s->file);
			break;
		}
		if (len < LINE_KEPT)
			line[len++] = (char)c;
		line[len] = '\0';
	}
	return true;
}

/* Whether the statement that begins with `text` goes on, because `text` ends within parentheses or behind an operator. */
static bool goes_on(const char *text)
{
	size_t len = strlen(text);
	int depth = 0;

	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	for (size_t i = 0; i < len; i++) {
		depth += text[i] == '(';
		depth -= text[i] == ')';
	}
	return len && (depth > 0 || strchr("=|&+-?,", text[len - 1]));
}

bool statement_at(const char *folder, const char *file, unsigned line, char text[STATEMENT_MAX])
{
	struct source s = {.file = open_below(folder, file)};
	char next[LINE_KEPT + 1];
	unsigned lines = 0;
	bool found = false;

	text[0] = '\0';
	if (!s.file)
		return false;
	for (unsigned n = 1; next_line(&s, next); n++) {
		bool more = goes_on(text) && lines < LINES_MAX;

		if (found && !more)
			break;
		if (!more) {
			text[0] = '\0';
			lines = 0;
		}
		strcat(text, next);
		strcat(text, " ");
		lines++;
		found |= n == line;
	}
	fclose(s.file);
	return found;
}

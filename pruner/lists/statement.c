// SPDX-License-Identifier: GPL-2.0-or-later
/* Cuts the statement around a line out of C source, without comments, contents of quotes and preprocessor lines. */
#include "pruner/lists/statement.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LINES_MAX 6
#define LINE_KEPT (STATEMENT_MAX / LINES_MAX - 1)

struct source {
	const char *at, *end;
	bool in_comment; /* The last line ended inside a comment. */
};

/* Returns the next character, or EOF at the end. */
static int next_char(struct source *s)
{
	return s->at < s->end ? (unsigned char)*s->at++ : EOF;
}

/* Skip a quotation that begins with `quote`. Returns the character after it, or the line's end. */
static int skip_quoted(struct source *s, int quote)
{
	int c = next_char(s);

	while (c != quote && c != '\n' && c != EOF) {
		/* A backslash escapes the next character, except a line's end. */
		if (c == '\\')
			c = next_char(s);
		if (c != '\n')
			c = next_char(s);
	}
	return c == quote ? next_char(s) : c;
}

static int skip_comment(struct source *s)
{
	int c = next_char(s), before = 0;

	while (c != '\n' && c != EOF && !(before == '*' && c == '/')) {
		before = c;
		c = next_char(s);
	}
	s->in_comment = c == '\n' || c == EOF;
	return s->in_comment ? c : next_char(s);
}

static int skip_line(struct source *s)
{
	int c = next_char(s);

	while (c != '\n' && c != EOF)
		c = next_char(s);
	return c;
}

/*
 * Returns the first character that is code: `c` itself, or the first one after the quotation or comment that `c` begins. At the
 * end of the line or text, returns '\n' or EOF.
 */
static int to_code(struct source *s, int c)
{
	int next;

	for (;;) {
		if (c == '"' || c == '\'') {
			c = skip_quoted(s, c);
			continue;
		}
		if (c != '/')
			return c;
		next = next_char(s);
		if (next == '/')
			return skip_line(s);
		if (next != '*') {
			s->at -= next != EOF;
			return c;
		}
		c = skip_comment(s);
	}
}

/* Read the code of the next line, at most LINE_KEPT characters of it. Returns false at the end of the text. */
static bool next_line(struct source *s, char line[LINE_KEPT + 1])
{
	size_t len = 0;
	int c = s->in_comment ? skip_comment(s) : next_char(s);

	line[0] = '\0';
	if (c == EOF)
		return false;
	for (c = to_code(s, c); c != '\n' && c != EOF; c = to_code(s, next_char(s))) {
		/* A preprocessor line is no code. */
		if (c == '#' && len == strspn(line, " \t")) {
			skip_line(s);
			break;
		}
		if (len < LINE_KEPT)
			line[len++] = (char)c;
		line[len] = '\0';
	}
	return true;
}

/* Returns whether the statement continues after `text`: a parenthesis is open, or the last character is an operator. */
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

bool statement_at(struct sources *sources, const char *file, unsigned line, char text[STATEMENT_MAX])
{
	size_t len;
	const char *begin = sources_text(sources, file, &len);
	struct source s = {.at = begin, .end = begin ? begin + len : NULL};
	char next[LINE_KEPT + 1];
	unsigned lines = 0;
	bool found = false;

	text[0] = '\0';
	if (!begin)
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
	return found;
}

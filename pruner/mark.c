// SPDX-License-Identifier: GPL-2.0-or-later
/* Marked accesses, told by the instruction, by what was inlined around it, and by the line of source where that is at hand. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pruner/conf.h"
#include "pruner/view.h"

#define LINE_MAX_LEN 1024
#define STATEMENT_LINES 6
#define STATEMENT_MAX (STATEMENT_LINES * LINE_MAX_LEN)
#define WORD_MAX 64

static void say(struct view_side *s, const char *how, const char *where, unsigned line)
{
	s->marked = true;
	if (line)
		snprintf(s->mark, sizeof(s->mark), "%.40s at %.40s:%u", how, where, line);
	else
		snprintf(s->mark, sizeof(s->mark), "%.60s%s", how, where);
}

/* Paths come from a report, which may be anybody's: only files below the folder are opened. */
static FILE *open_source(const struct prune_rules *rules, const char *file)
{
	char path[4096];

	file += strspn(file, "./");
	if (!rules->sources || !*file || strstr(file, "..") ||
	    snprintf(path, sizeof(path), "%s/%s", rules->sources, file) >= (int)sizeof(path))
		return NULL;
	return fopen(path, "re");
}

/* Whether a statement goes on behind `text`, as it is written: within parentheses, or behind an operator. */
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

/* The statement of the line: an access is given one of its lines, and its macro may stand in another. */
static bool read_statement(const struct prune_rules *rules, const struct source_line *at, char text[STATEMENT_MAX])
{
	FILE *file = open_source(rules, at->file);
	unsigned n = 0, lines = 0;
	size_t used = 0;

	if (!file)
		return false;
	while (n < at->line + STATEMENT_LINES && fgets(text + used, LINE_MAX_LEN, file)) {
		bool more = goes_on(text) && ++lines < STATEMENT_LINES;

		n++;
		if (n >= at->line && !more)
			break;
		used = more ? used + strlen(text + used) : 0;
		lines = more ? lines : 0;
	}
	fclose(file);
	return n >= at->line;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The end of what is in the parentheses that open at `text`, or of the line. */
static const char *closing(const char *text)
{
	int depth = 0;

	for (; *text; text++) {
		depth += *text == '(';
		depth -= *text == ')';
		if (depth == 0)
			break;
	}
	return text;
}

/* The last part of what raced, as it must stand in the marked access's parentheses; "": not known. */
static void wanted_name(const struct view_side *s, char out[DEBUGINFO_PATH_MAX])
{
	const char *path = !s->datum		 ? ""
			   : s->datum->member[0] ? s->datum->member
						 : s->datum->variable,
		   *last = strrchr(path, '.');

	snprintf(out, DEBUGINFO_PATH_MAX, "%s", last ? last + 1 : path);
	out[strcspn(out, "[")] = '\0';
}

static bool mentions(const char *from, const char *to, const char *name)
{
	size_t len = strlen(name);

	if (!len)
		return true;
	for (const char *at = from; (at = strstr(at, name)) && at + len <= to; at++) {
		if (!is_word(at[-1]) && !is_word(at[len]))
			return true;
	}
	return false;
}

/*
 * Whether the macro `word` marks an access to `name`, with the parentheses from `from` to `to`: the datum stands in them, or it
 * is one that the macro itself accesses, as set_current_state() does current->__state.
 */
static bool is_marking(const struct prune_rules *rules, const char *word, const char *from, const char *to, const char *name)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct list_entry *e = &rules->entries[i];

		if (e->kind != LIST_MARKED || !e->word || !conf_match(e->word, word))
			continue;
		if (e->member ? conf_match(e->member, name) : mentions(from, to, name))
			return true;
	}
	return false;
}

/* A marked access in the line, around the datum: "x = READ_ONCE(foo->bar)". */
static bool marked_in(const struct prune_rules *rules, const char *text, const char *name, char word[WORD_MAX])
{
	while (*text) {
		size_t len = 0;

		while (is_word(text[len]))
			len++;
		if (!len) {
			text++;
			continue;
		}
		if (len < WORD_MAX && text[len] == '(') {
			memcpy(word, text, len);
			word[len] = '\0';
			if (is_marking(rules, word, text + len, closing(text + len), name))
				return true;
		}
		text += len;
	}
	return false;
}

static void by_source(const struct view *v, struct view_side *s, const struct source_line *lines, size_t n)
{
	char text[STATEMENT_MAX], name[DEBUGINFO_PATH_MAX], word[WORD_MAX], how[WORD_MAX + 2];

	wanted_name(s, name);
	for (size_t i = 0; i < n; i++) {
		if (!lines[i].line || !read_statement(v->rules, &lines[i], text) || !marked_in(v->rules, text, name, word))
			continue;
		snprintf(how, sizeof(how), "%s()", word);
		say(s, how, lines[i].file, lines[i].line);
		return;
	}
}

/* A look at what others change by LOCKed instructions alone: the words that mark it leave nothing in machine code. */
static void by_datum(const struct view *v, struct view_side *s)
{
	const struct datum_name *name;

	if (s->writes || !view_listed(v, LIST_ATOMIC, &name))
		return;
	s->marked = true;
	snprintf(s->mark, sizeof(s->mark), "a look at %.60s, which is listed", name->path);
}

void view_mark(const struct view *v, unsigned which, struct view_side *s)
{
	size_t n;
	const struct source_line *lines = race_names_lines(v->race->names, which, 0, &n);

	if (s->side->locked) {
		say(s, "a LOCKed instruction", "", 0);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (rules_function(v->rules, LIST_MARKED, lines[i].function)) {
			say(s, lines[i].function, "()", 0);
			return;
		}
	}
	if (rules_function(v->rules, LIST_MARKED, s->side->symbol.name))
		say(s, s->side->symbol.name, "()", 0);
	else if (lines)
		by_source(v, s, lines, n);
	if (!s->marked)
		by_datum(v, s);
}

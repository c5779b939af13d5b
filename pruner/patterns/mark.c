// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds marked accesses by the instruction, by the functions inlined around it, and by the source if it is available. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pruner/lists/conf.h"
#include "pruner/code/operand.h"
#include "pruner/lists/statement.h"
#include "pruner/patterns/mark.h"

#define WORD_MAX 64

/*
 * Mark the side, and set s->mark to "HOW at FILE:LINE". `where` is the file. If `line` is 0, `where` is no file but a text, and
 * s->mark is `how` followed by this text.
 */
static void describe(struct view_side *s, const char *how, const char *where, unsigned line)
{
	char path[PATH_TEXT_MAX];

	path_text(where, path);
	if (line)
		snprintf(s->mark, sizeof(s->mark), "%s at %s:%u", how, path, line);
	else
		snprintf(s->mark, sizeof(s->mark), "%s%s", how, path);
	s->marked = true;
}

/* Set *out to the datum of the race, which the parentheses of a marking macro must contain. */
static void wanted_operand(const struct view *v, unsigned which, struct operand *out)
{
	const struct datum_name *names[VIEW_NAMES];

	*out = (struct operand){0};
	view_names(v, which, names);
	for (unsigned i = 0; i < VIEW_NAMES && !out->name[0]; i++) {
		if (names[i] && !names[i]->guess)
			operand_of(names[i], out);
	}
}

struct wanted {
	const struct prune_rules *rules;
	struct operand operand;
	uint8_t access; /* INSN_READ, INSN_WRITE or both */
	/*
	 * The statement calls an inlined function, which makes the access. Then only a macro that marks all accesses in its
	 * parentheses (covers_all) can mark the access.
	 */
	bool inlined;
};

/*
 * Returns whether the macro `word` marks the access: the macro's parentheses, from `from` to `to`, contain the datum, or the
 * macro itself accesses the datum, as set_current_state() accesses current->__state.
 */
static bool is_marking(const struct wanted *w, const char *word, const char *from, const char *to)
{
	for (size_t i = 0; i < w->rules->count; i++) {
		const struct list_entry *e = &w->rules->entries[i];

		if (e->kind != LIST_MARKED || !e->word || (e->access && e->access != w->access) ||
		    !rules_kernel_fits(w->rules, e) || !conf_match(e->word, word))
			continue;
		if (w->inlined && !e->covers_all)
			continue;
		if (e->member	    ? conf_match(e->member, w->operand.name)
		    : e->covers_all ? operand_mentioned(&w->operand, from, to)
				    : operand_is_accessed(&w->operand, from, to))
			return true;
	}
	return false;
}

/*
 * Returns whether the statement has a marked access to the datum, for example "x = READ_ONCE(foo->bar)". Sets `word` to the
 * macro's name.
 */
static bool marked_in(const struct wanted *w, const char *text, char word[WORD_MAX])
{
	while (*text) {
		size_t len = 0;

		while (is_word_char(text[len]))
			len++;
		if (!len) {
			text++;
			continue;
		}
		if (len < WORD_MAX && text[len] == '(') {
			memcpy(word, text, len);
			word[len] = '\0';
			if (is_marking(w, word, text + len, operand_end(text + len)))
				return true;
		}
		text += len;
	}
	return false;
}

static uint8_t access_of(const struct view_side *s)
{
	return (uint8_t)((s->reads ? INSN_READ : 0) | (s->writes ? INSN_WRITE : 0));
}

static void by_source(const struct view *v, unsigned which, struct view_side *s, const struct source_line *lines, size_t n)
{
	char text[STATEMENT_MAX], word[WORD_MAX], how[WORD_MAX + 2];
	struct wanted w = {.rules = v->rules, .access = access_of(s)};

	wanted_operand(v, which, &w.operand);
	for (size_t i = 0; i < n && w.operand.name[0] && v->rules->sources; i++) {
		w.inlined = i > 0;
		if (!lines[i].line || !statement_at(v->rules->sources, lines[i].file, lines[i].line, text))
			continue;
		s->source_read = true;
		if (!marked_in(&w, text, word))
			continue;
		snprintf(how, sizeof(how), "%s()", word);
		describe(s, how, lines[i].file, lines[i].line);
		return;
	}
}

/*
 * Mark a read of data in LIST_ATOMIC. The kernel's source marks such reads by macros that leave no trace in machine code.
 */
static void by_datum(const struct view *v, struct view_side *s)
{
	const struct datum_name *name;

	if (s->writes || !view_listed(v, LIST_ATOMIC, &name))
		return;
	s->marked = true;
	snprintf(s->mark, sizeof(s->mark), "a read of %.200s (listed as atomic)", name->path);
}

void mark_side(const struct view *v, unsigned which, struct view_side *s)
{
	size_t n;
	const struct source_line *lines = race_names_lines(v->race->names, which, 0, &n);

	if (s->side->locked) {
		describe(s, "a LOCKed instruction", "", 0);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (rules_access(v->rules, LIST_MARKED, lines[i].function, access_of(s))) {
			describe(s, lines[i].function, "()", 0);
			return;
		}
	}
	if (rules_access(v->rules, LIST_MARKED, s->side->symbol.name, access_of(s)))
		describe(s, s->side->symbol.name, "()", 0);
	else if (lines)
		by_source(v, which, s, lines, n);
	if (!s->marked)
		by_datum(v, s);
}

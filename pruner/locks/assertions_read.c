// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the file of assertions, and frees what was read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "hv/base/clean.h"
#include "pruner/locks/assertions.h"
#include "pruner/lists/conf.h"
#include "symbols/insn/insn.h"

#define ASSERTIONS_MAX 4096u

/* Free the strings of the assertion and its list of accesses that broke it, but not the struct itself. */
static void free_assertion(struct assertion *a)
{
	free(a->text);
	free(a->datum);
	free(a->under);
	free(a->by);
	free(a->breaks);
}

/*
 * Append *a to the list, which then owns all strings of *a. Returns 0, or -1 if memory ran out; then the caller still owns the
 * strings.
 */
static int add_assertion(struct assertions *list, const struct assertion *a)
{
	struct assertion *to = list_grow(&list->list, &list->count, sizeof(*to), NULL);

	if (!to)
		return -1;
	*to = *a;
	return 0;
}

void assertions_free(struct assertions *a)
{
	for (size_t i = 0; a && i < a->count; i++)
		free_assertion(&a->list[i]);
	if (a) {
		free(a->list);
		free(a->file);
	}
	free(a);
}

/* Returns a copy with "." for each "->" between members, as assertions_check() compares names. The caller frees the copy. */
static char *with_dots(const char *globs)
{
	char *out = strdup(globs);

	for (char *arrow; out && (arrow = strstr(out, "->"));) {
		*arrow = '.';
		memmove(arrow + 1, arrow + 2, strlen(arrow + 2) + 1);
	}
	return out;
}

static int access_of(const struct conf_stanza *s, const struct conf_field *f, struct assertion *a, struct err *err)
{
	if (strcmp(f->value, "write") == 0)
		a->rw = INSN_WRITE;
	else if (strcmp(f->value, "read") == 0)
		a->rw = INSN_READ;
	else if (strcmp(f->value, "any") == 0)
		a->rw = INSN_READ | INSN_WRITE;
	else
		return conf_wrong(s->file, f->line, err, "access is read, write or any, not \"%s\"", f->value);
	return 0;
}

static int optional_of(const struct conf_stanza *s, const struct conf_field *f, struct assertion *a, struct err *err)
{
	a->optional = strcmp(f->value, "yes") == 0;
	if (a->optional || strcmp(f->value, "no") == 0)
		return 0;
	return conf_wrong(s->file, f->line, err, "optional is yes or no, not \"%s\"", f->value);
}

static int take_field(const struct conf_stanza *s, const struct conf_field *f, struct assertion *a, struct err *err)
{
	char **to = strcmp(f->key, "datum") == 0   ? &a->datum
		    : strcmp(f->key, "under") == 0 ? &a->under
		    : strcmp(f->key, "by") == 0	   ? &a->by
						   : NULL;

	if (strcmp(f->key, "access") == 0)
		return access_of(s, f, a, err);
	if (strcmp(f->key, "optional") == 0)
		return optional_of(s, f, a, err);
	if (!to)
		return conf_wrong(s->file, f->line, err,
				  "the keys of an assertion are datum, access, under, by and optional, not \"%s\"", f->key);
	if (*to)
		return conf_wrong(s->file, f->line, err, "%s was given before", f->key);
	if (!f->value[0])
		return conf_wrong(s->file, f->line, err, "%s needs a name", f->key);
	*to = with_dots(f->value);
	return *to ? 0 : err_set(err, EXIT_INTERNAL, "out of memory for assertions");
}

static const char *words_of(uint8_t rw)
{
	return rw == INSN_WRITE ? "writes" : rw == INSN_READ ? "reads" : "accesses";
}

/* Returns the assertion in one line of text for reports, or NULL. The caller frees the text. */
static char *text_of(const struct assertion *a)
{
	char text[1024];

	snprintf(text, sizeof(text), "%s: %s%s%s%s%s", a->datum, words_of(a->rw), a->under ? " under " : "",
		 a->under ? a->under : "", a->by ? " only by " : "", a->by ? a->by : "");
	clean_line(text, sizeof(text));
	return strdup(text);
}

static int take_stanza(void *ctx, const struct conf_stanza *s, struct err *err)
{
	struct assertion a = {.file = s->file, .line = s->line, .rw = INSN_READ | INSN_WRITE};
	struct assertions *list = ctx;
	int rc = 0;

	if (strcmp(s->kind, "assert") != 0)
		return conf_wrong(s->file, s->line, err, "a stanza here is [assert], not [%s]", s->kind);
	for (unsigned i = 0; i < s->count && rc == 0; i++)
		rc = take_field(s, &s->fields[i], &a, err);
	if (rc == 0 && !a.datum)
		rc = conf_wrong(s->file, s->line, err, "an assertion needs a datum");
	if (rc == 0 && !a.under && !a.by)
		rc = conf_wrong(s->file, s->line, err, "an assertion needs locks (under) or functions (by)");
	if (rc == 0 && list->count == ASSERTIONS_MAX)
		rc = conf_wrong(s->file, s->line, err, "there are more than %u assertions", ASSERTIONS_MAX);
	if (rc == 0)
		a.text = text_of(&a);
	if (rc == 0 && (!a.text || add_assertion(list, &a)))
		rc = err_set(err, EXIT_INTERNAL, "out of memory for assertions");
	if (rc)
		free_assertion(&a);
	return rc;
}

struct assertions *assertions_read(const char *path, struct err *err)
{
	struct assertions *a = calloc(1, sizeof(*a));

	if (a)
		a->file = strdup(path);
	if (!a || !a->file)
		err_set(err, EXIT_INTERNAL, "out of memory for assertions");
	else if (conf_read(a->file, take_stanza, a, err) == 0 && !a->count)
		err_set(err, EXIT_INPUT, "%s: has no [assert] stanza", path);
	if (err->code == EXIT_OK)
		return a;
	assertions_free(a);
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Fills in the findings of the selected rounds, and whether earlier rounds had the same findings. */
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "hv/campaign/list/fill_internal.h"

#define NUMBER_MAX 64 /* maximum number of characters of a number or address that same_line() skips */

/* Skip the time that printk writes before a line: "[ 12.345678] ". */
static const char *without_time(const char *line)
{
	const char *end = line[0] == '[' ? strchr(line, ']') : NULL;

	return end && end[1] == ' ' && strspn(line + 1, " .0123456789") == (size_t)(end - line - 1) ? end + 2 : line;
}

/*
 * Returns the length of the number or address at `text`, which has at least one digit, or 0 if there is none. NUMBER_MAX bounds
 * the search, because a guest can write a line of any length.
 */
static size_t number_at(const char *text)
{
	bool digit = false;
	size_t len;

	for (len = 0; len < NUMBER_MAX && text[len] && strchr("0123456789abcdefABCDEFx", text[len]); len++)
		digit |= text[len] >= '0' && text[len] <= '9';
	return digit ? len : 0;
}

/* Returns whether two lines are equal apart from numbers and addresses, which differ from round to round. */
static bool same_line(const char *a, const char *b)
{
	a = without_time(a);
	b = without_time(b);
	while (*a && *b) {
		size_t n = number_at(a), k = number_at(b);

		if (!(n && k) && *a != *b)
			return false;
		a += n && k ? n : 1;
		b += n && k ? k : 1;
	}
	return *a == *b;
}

/* For each finding of the summary that the earlier round `index` also has, set is_new to false. */
static int compare_with_round(struct fill *f, size_t index)
{
	struct store_findings old = {0};
	int rc = f->rounds.list[index].findings ? store_findings(f->store, f->rounds.list[index].id, &old, f->err) : 0;

	for (size_t i = 0; i < f->m->finding_count; i++) {
		struct summary_finding *now = &f->m->findings[i];

		for (size_t j = 0; now->is_new && j < old.count; j++)
			now->is_new = strcmp(now->kind, old.list[j].kind) != 0 || !same_line(now->line, old.list[j].line);
	}
	store_findings_free(&old);
	return rc;
}

static int add_finding(struct fill *f, const struct store_finding_entry *from)
{
	struct summary_finding *to = list_grow(&f->m->findings, &f->m->finding_count, sizeof(*to), f->err);

	if (!to)
		return -1;
	*to = (struct summary_finding){.kind = fill_text(f, from->kind),
				       .run = fill_line(f, from->key),
				       .line = fill_text(f, from->line),
				       .console = fill_line(f, from->file),
				       .folder = fill_line(f, from->folder),
				       .command = fill_line(f, from->command),
				       .is_new = true};
	return 0;
}

static int add_round(struct fill *f, size_t index)
{
	struct store_findings found = {0};
	int rc = store_findings(f->store, f->rounds.list[index].id, &found, f->err);

	for (size_t i = 0; rc == 0 && i < found.count; i++)
		rc = add_finding(f, &found.list[i]);
	store_findings_free(&found);
	return rc;
}

/* Earlier rounds decide which findings are new. When two rounds are compared, the base round is the only earlier round. */
int fill_findings(struct fill *f)
{
	int rc = 0;

	for (size_t i = f->from; rc == 0 && i <= f->to; i++)
		rc = add_round(f, i);
	if (rc == 0 && f->m->pair)
		return f->m->finding_count ? compare_with_round(f, f->base) : 0;
	for (size_t i = 0; rc == 0 && i < f->from && f->m->finding_count; i++)
		rc = compare_with_round(f, i);
	return rc;
}

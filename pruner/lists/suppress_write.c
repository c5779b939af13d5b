// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes suppressions for --gen-suppressions. */
#include <ctype.h>
#include <string.h>

#include "hv/base/clean.h"
#include "pruner/lists/suppress.h"

#define GLOB_TEXT_MAX 200 /* Longer names are cut, and end in a star. */

/*
 * Write a shell pattern that fits `len` bytes of text. Blanks separate patterns, and some characters are operators of patterns.
 * Therefore only letters, digits and "_.:+->" are written, and any other character becomes "?", which fits each character.
 */
static void put_glob(FILE *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len && i < GLOB_TEXT_MAX; i++) {
		unsigned char c = (unsigned char)text[i];

		fputc(isalnum(c) || strchr("_.:+->", c) ? c : '?', out);
	}
	fputs(len > GLOB_TEXT_MAX ? "*\n" : "\n", out);
}

/* Returns whether the site is a function and an offset. Another build of the kernel changes the offset. */
static bool is_function(const char *site)
{
	if (strncmp(site, "stop:", 5) == 0)
		site += 5;
	return strncmp(site, "image+", 6) != 0 && strncmp(site, "raw+", 4) != 0;
}

static void put_site(FILE *out, const char *site)
{
	fputs("site = ", out);
	put_glob(out, site, is_function(site) ? strcspn(site, "+") : strlen(site));
}

static void put_key(FILE *out, const char *key, const char *value)
{
	if (!value[0])
		return;
	fprintf(out, "%s = ", key);
	put_glob(out, value, strlen(value));
}

/* Write the variable's name, or the type of an object, and the member. These names are the same in every run. */
static void put_datum(FILE *out, const struct race *race)
{
	const struct datum_name *d = race->names ? &race->names->datum[race->names->best] : NULL;

	if (!d || d->by == DATUM_UNNAMED || d->guess)
		return;
	if (d->by == DATUM_BY_VARIABLE)
		put_key(out, "variable", d->variable);
	else
		put_key(out, "type", datum_unqualified(d->owner));
	put_key(out, "member", d->member);
}

void suppress_write(FILE *out, const struct race *race, const char *verdict)
{
	char id[CLEAN_MAX(RACE_ID_MAX)], site[2][CLEAN_MAX(SITE_NAME_MAX)];

	clean_text(race->id, sizeof(race->id), id, sizeof(id));
	for (unsigned i = 0; i < 2; i++)
		clean_text(race->site[i], sizeof(race->site[i]), site[i], sizeof(site[i]));
	fprintf(out, "\n# %s  %s  <->  %s\n# %s\n[suppress]\n", id, site[0], site[1], verdict);
	for (unsigned i = 0; i < 2; i++)
		put_site(out, race->site[i]);
	put_datum(out, race);
	fputs("reason =\n", out);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares the names of a datum with the patterns of lists and suppressions. */
#include "pruner/lists/datum_match.h"

#include <stdio.h>
#include <string.h>

#include "pruner/lists/conf.h"

void datum_last_part(const struct datum_name *d, char out[DEBUGINFO_PATH_MAX])
{
	const char *path = d->member[0] ? d->member : d->variable, *last = strrchr(path, '.');

	snprintf(out, DEBUGINFO_PATH_MAX, "%s", last ? last + 1 : path);
	out[strcspn(out, "[")] = '\0';
}

static bool fits_member(const char *globs, const struct datum_name *d)
{
	char part[DEBUGINFO_PATH_MAX];

	datum_last_part(d, part);
	return conf_fits(globs, d->member[0] ? d->member : d->variable) || conf_fits(globs, part);
}

bool datum_match(const struct datum_name *d, const char *variable, const char *type, const char *member)
{
	return conf_fits(variable, d->variable) && conf_fits(type, datum_unqualified(d->owner)) && fits_member(member, d);
}

void datum_of_memory(const struct guest_memory *memory, struct datum_name *out)
{
	const struct guest_symbol *symbol = &memory->symbol;

	*out = (struct datum_name){.by = DATUM_UNNAMED};
	if (!symbol->name[0] && !memory->type[0])
		return;
	out->by = DATUM_BY_VARIABLE;
	/*
	 * An address after the beginning of a variable, without a known member, may belong to another, unnamed datum. Such a
	 * datum gets the name "NAME+". Lists have the pattern "NAME+" for variables that are known to be larger than one word.
	 */
	if (symbol->name[0] && !memory->member[0] && memory->offset)
		snprintf(out->variable, sizeof(out->variable), "%.*s+", (int)sizeof(out->variable) - 2, symbol->name);
	else
		snprintf(out->variable, sizeof(out->variable), "%s", symbol->name);
	snprintf(out->member, sizeof(out->member), "%s", memory->member);
	if (memory->type[0])
		snprintf(out->owner, sizeof(out->owner), "struct %s", memory->type);
	snprintf(out->path, sizeof(out->path), "%s%s%s", symbol->name[0] ? symbol->name : memory->type,
		 memory->member[0] ? "." : "", memory->member);
}

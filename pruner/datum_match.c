// SPDX-License-Identifier: GPL-2.0-or-later
#include "pruner/datum_match.h"

#include <stdio.h>
#include <string.h>

#include "pruner/conf.h"

static bool fits(const char *globs, const char *text)
{
	return !globs || (text[0] && conf_match(globs, text));
}

static bool fits_member(const char *globs, const struct datum_name *d)
{
	const char *path = d->member[0] ? d->member : d->variable, *last = strrchr(path, '.');
	char part[sizeof(d->member)];

	if (!globs)
		return true;
	snprintf(part, sizeof(part), "%s", last ? last + 1 : path);
	part[strcspn(part, "[")] = '\0';
	return fits(globs, path) || fits(globs, part);
}

bool datum_match(const struct datum_name *d, const char *variable, const char *type, const char *member)
{
	return fits(variable, d->variable) && fits(type, datum_unqualified(d->owner)) && fits_member(member, d);
}

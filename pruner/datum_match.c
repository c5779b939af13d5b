// SPDX-License-Identifier: GPL-2.0-or-later
#include "pruner/datum_match.h"

#include <stdio.h>
#include <string.h>

#include "pruner/conf.h"

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

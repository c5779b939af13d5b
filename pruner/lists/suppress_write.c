// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a suppression for each group of races, for `outrider report --gen-suppressions`. */
#include "hv/base/clean.h"
#include "pruner/lists/suppress.h"

void suppress_write(FILE *out, const struct race *lead, const char *group, const char *alias, const char *verdict)
{
	char id[CLEAN_MAX(RACE_ID_MAX)], site[2][CLEAN_MAX(SITE_NAME_MAX)];

	clean_text(lead->id, sizeof(lead->id), id, sizeof(id));
	for (unsigned i = 0; i < 2; i++)
		clean_text(lead->site[i], sizeof(lead->site[i]), site[i], sizeof(site[i]));
	fprintf(out, "\n# %s  %s  <->  %s\n# %s\n[suppress]\ngroup = %s%s%s\nreason =\n", id, site[0], site[1], verdict, group,
		alias[0] ? " " : "", alias);
}

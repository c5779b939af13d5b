// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes suppressions for --gen-suppressions. */
#include "hv/base/clean.h"
#include "hv/race/race_key.h"
#include "pruner/lists/suppress.h"

void suppress_write(FILE *out, const struct race *race, const char *verdict)
{
	char id[CLEAN_MAX(RACE_ID_MAX)], site[2][CLEAN_MAX(SITE_NAME_MAX)];
	struct race_key key;

	clean_text(race->id, sizeof(race->id), id, sizeof(id));
	for (unsigned i = 0; i < 2; i++)
		clean_text(race->site[i], sizeof(race->site[i]), site[i], sizeof(site[i]));
	race_key(race, &key);
	fprintf(out, "\n# %s  %s  <->  %s\n# %s\n[suppress]\nrace = %s%s%s\nreason =\n", id, site[0], site[1], verdict,
		key.identity, key.alias[0] ? " " : "", key.alias);
}

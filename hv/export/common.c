// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hv/export/internal.h"
#include "hv/report/words.h"

void export_text(const char *text, size_t size, char out[EXPORT_NAME_MAX])
{
	clean_text(text, size < 256 ? size : 256, out, EXPORT_NAME_MAX);
}

void export_function(const struct race_side *side, char out[EXPORT_NAME_MAX])
{
	if (side->symbol.name[0])
		export_text(side->symbol.name, sizeof(side->symbol.name), out);
	else
		snprintf(out, EXPORT_NAME_MAX, "0x%016" PRIx64, site_address(side));
}

const struct source_line *export_line(const struct race *race, unsigned which)
{
	size_t n;
	const struct source_line *line = race_names_lines(race->names, which, 0, &n);

	return line && line->file[0] && line->line ? line : NULL;
}

unsigned export_primary(const struct race *race)
{
	bool line[2] = {export_line(race, 0) != NULL, export_line(race, 1) != NULL};

	if (!race->first.sides[1].known)
		return 0;
	if (line[0] != line[1])
		return line[1];
	return strcmp(race->site[0], race->site[1]) > 0;
}

void export_title(const struct race *race, char out[EXPORT_TITLE_MAX])
{
	char name[2][EXPORT_NAME_MAX], datum[DATUM_TEXT_MAX];
	unsigned first = export_primary(race);

	datum_path(race, datum);
	export_function(&race->first.sides[first], name[0]);
	if (race->first.sides[!first].known) {
		export_function(&race->first.sides[!first], name[1]);
		snprintf(out, EXPORT_TITLE_MAX, "%s in %s against %s in %s%s%s", access_word(race->rw[first]), name[0],
			 access_word(race->rw[!first]), name[1], datum[0] ? ": " : "", datum);
	} else {
		snprintf(out, EXPORT_TITLE_MAX, "%s in %s against a writer nobody saw%s%s", access_word(race->rw[first]),
			 name[0], datum[0] ? ": " : "", datum);
	}
}

const struct run_facts *export_first_run(const struct export_run *run, const struct race *race)
{
	/* race_store_begin_run() counts the runs from 1 on, in the order of the list. */
	unsigned number = race->kept ? race->instances[0].run : 0;

	return number && number <= run->run_count ? &run->runs[number - 1] : NULL;
}

const char *export_banner(const struct export_run *run, const struct race *race)
{
	const struct run_facts *first = export_first_run(run, race);

	return first ? first->kernel.banner : run->kernel;
}

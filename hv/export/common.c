// SPDX-License-Identifier: GPL-2.0-or-later
/* Texts about races that several exports share, such as a race's title. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hv/export/internal.h"
#include "hv/race/race_key.h"
#include "hv/report/device.h"
#include "hv/report/words.h"

enum export_level export_level_of(enum verdict_class class)
{
	switch (class) {
	case VERDICT_HARMFUL:
		return EXPORT_HARMFUL;
	case VERDICT_UNCLEAR:
		return EXPORT_UNSURE;
	default:
		return EXPORT_BENIGN;
	}
}

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
	return race_names_place(race->names, which);
}

unsigned export_primary(const struct race *race)
{
	bool line[2] = {export_line(race, 0) != NULL, export_line(race, 1) != NULL};
	struct race_key key;

	if (race->first.sides[1].kind != RACE_SIDE_CPU)
		return 0;
	if (line[0] != line[1])
		return line[1];
	race_key(race, &key);
	return key.sides[0].side;
}

void export_who(const struct race *race, unsigned which, char out[EXPORT_NAME_MAX])
{
	const struct race_side *side = &race->first.sides[which];

	if (side->kind == RACE_SIDE_CPU)
		export_function(side, out);
	else if (side->kind == RACE_SIDE_DEVICE)
		device_kind(&side->device, out);
	else
		snprintf(out, EXPORT_NAME_MAX, "an unseen writer");
}

#define SIDE_TITLE_MAX (EXPORT_NAME_MAX + 32)

static void side_title(const struct race *race, unsigned which, char out[SIDE_TITLE_MAX])
{
	const struct race_side *side = &race->first.sides[which];
	char who[EXPORT_NAME_MAX];

	export_who(race, which, who);
	if (side->kind != RACE_SIDE_UNSEEN)
		snprintf(out, SIDE_TITLE_MAX, "%s %s %s", access_word(race->rw[which]),
			 side->kind == RACE_SIDE_CPU ? "in" : "by", who);
	else
		snprintf(out, SIDE_TITLE_MAX, "%s", who);
}

void export_title(const struct race *race, char out[EXPORT_TITLE_MAX])
{
	char side[2][SIDE_TITLE_MAX], datum[DATUM_TEXT_MAX];
	unsigned first = export_primary(race);

	datum_path(race, datum);
	for (unsigned i = 0; i < 2; i++)
		side_title(race, i ? !first : first, side[i]);
	snprintf(out, EXPORT_TITLE_MAX, "%s against %s%s%s", side[0], side[1], datum[0] ? ": " : "", datum);
}

const struct run_facts *export_first_run(const struct export_run *run, const struct race *race)
{
	/* Find the race's first run by its number: race_store_begin_run() numbers the runs of the list from 1. */
	unsigned number = race->kept ? race->instances[0].run : 0;

	return number && number <= run->run_count ? &run->runs[number - 1] : NULL;
}

const char *export_banner(const struct export_run *run, const struct race *race)
{
	const struct run_facts *first = export_first_run(run, race);

	return first ? first->kernel.banner : run->kernel;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The races that the user selected by ids, or by the ids' first characters, among those of some files. */
#ifndef OUTRIDER_CLI_RACE_WANTED_H
#define OUTRIDER_CLI_RACE_WANTED_H

#include <stdbool.h>
#include <stddef.h>

#include "hv/base/err.h"
#include "hv/race/race.h"

/* The most ids that an error line shows when several races match. */
#define RACE_WANTED_SHOWN 4

/* One id that the user gave. */
struct race_wanted {
	const char *id;
	/* The ids of the races that match it. */
	char found[RACE_WANTED_SHOWN][RACE_ID_MAX];
	size_t count; /* may be more than `found` has */
};

/* All zero: all races are wanted. */
struct races_wanted {
	struct race_wanted *list;
	size_t count;
};

/*
 * Select this race, and only this and others that are added in the same way. `id` must last as long as `w`. Returns 0, or -1
 * with err set: EXIT_USAGE when `id` is empty.
 */
int races_wanted_add(struct races_wanted *w, const char *id, struct err *err);

void races_wanted_free(struct races_wanted *w);

/* Whether the race `id` of a file is wanted. Records it as found if so. */
bool races_wanted_has(struct races_wanted *w, const char *id);

/*
 * To be called after all files were read. Returns 0; or -1 with EXIT_USAGE when a wanted race was in none of the files, or when
 * an abbreviation matches several races.
 */
int races_wanted_all_found(const struct races_wanted *w, struct err *err);

#endif

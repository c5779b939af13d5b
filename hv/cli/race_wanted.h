/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The races that the user selected from some files: by id, which is the same in one build only; by identity
 * (hv/race/race_key.h), which is the same in all builds; by the id of their group (hv/race/group_key.h); or by the first
 * characters of one of these.
 */
#ifndef OUTRIDER_CLI_RACE_WANTED_H
#define OUTRIDER_CLI_RACE_WANTED_H

#include <stdbool.h>
#include <stddef.h>

#include "hv/base/err.h"
#include "hv/race/race.h"

/* If several races match, the error line shows at most this many of their ids. */
#define RACE_WANTED_SHOWN 4

/* One id that the user gave. */
struct race_wanted {
	const char *id;
	/* The first of the ids, identities and ids of groups that begin with `id`. */
	char found[RACE_WANTED_SHOWN][RACE_ID_MAX];
	size_t count; /* number of all that begin with `id`; can be more than `found` has room for */
};

/* All zero: all races are wanted. */
struct races_wanted {
	struct race_wanted *list;
	size_t count;
};

/*
 * Select this race. If any race is selected, only selected races are wanted. `id` must last as long as `w`. Returns 0, or -1
 * with err set: EXIT_USAGE if `id` is empty.
 */
int races_wanted_add(struct races_wanted *w, const char *id, struct err *err);

void races_wanted_free(struct races_wanted *w);

/* Returns whether the race of a file is wanted, and if so records that the race was found. */
bool races_wanted_has(struct races_wanted *w, const struct race *race);

/* Returns whether all wanted races are among these races. Records nothing. Returns false if memory runs out. */
bool races_wanted_are_in(const struct races_wanted *w, struct race *const *races, size_t count);

/*
 * Check after all files were read that each wanted race was found. Returns 0, or -1 with EXIT_USAGE if a wanted race was in
 * none of the files, or an abbreviation matches several races.
 */
int races_wanted_all_found(const struct races_wanted *w, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What makes two races one group: the same two functions, whatever the kinds of access, on the same datum; or the same two
 * functions in a section of one sequence count. Two races of a group are one bug as a rule. Pure functions.
 */
#ifndef OUTRIDER_RACE_GROUP_KEY_H
#define OUTRIDER_RACE_GROUP_KEY_H

#include <stdbool.h>

#include "hv/race/race_key.h"

#define GROUP_TEXT_MAX (2 * (SITE_NAME_MAX + 72) + RACE_KEY_DATUM_MAX + 64)

struct group_key {
	/* What the races of a group share. The text has no kinds of access, no offsets and no addresses. */
	char text[GROUP_TEXT_MAX];
	/* A hash of the text: the same in every build of the kernel. */
	char id[RACE_ID_MAX];
	/*
	 * The id that the group has in a report without debug files, where the datum's place (race_key.h) replaces the datum's
	 * name. "": that id is the same as `id`, or the datum's place is unknown.
	 */
	char alias[RACE_ID_MAX];
};

/*
 * Compute the key of a race's group. `section`: a writer of the race is in a section of a sequence count (struct verdict).
 * Races with `section` share a group if their data belong to one variable or to one type. A race whose datum has neither name
 * nor place shares a group only with races of its own identity.
 */
void group_key(const struct race *race, bool section, struct group_key *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Says which race a complaint of the guest's kernel belongs to. A complaint follows a race if it came soon after an instance of
 * the race, and if the code or the object that it names is the race's. Coincidence in time alone, or the same task, is no link:
 * races can happen all the time, so that any complaint would follow one. Pure functions.
 */
#ifndef OUTRIDER_RACE_COMPLAINT_LINK_H
#define OUTRIDER_RACE_COMPLAINT_LINK_H

#include "hv/race/complaint.h"

struct race;

/* What connects a complaint with a race, the weakest link first. */
enum complaint_link {
	COMPLAINT_UNLINKED,
	/* The CPU was in the function of a side, or in a function that this one had called. */
	COMPLAINT_SAME_FUNCTION,
	/* The faulting address is in the object that the sides accessed. */
	COMPLAINT_SAME_OBJECT,
	/* The CPU was at the instruction of a side. */
	COMPLAINT_SAME_INSTRUCTION,
};

/* The complaint that follows a race. `link` COMPLAINT_UNLINKED: none. */
struct race_complaint {
	enum complaint_link link;
	enum complaint_kind kind;
	/* The side whose code it is, for the links by code. Otherwise 0. */
	unsigned side;
	/* Time in ns from the instance before the complaint until the complaint was read, at most 0.1 s after it came. */
	uint64_t after_ns;
	/* As in struct complaint. */
	char text[COMPLAINT_TEXT_MAX];
	char where[COMPLAINT_PLACE_MAX];
};

/* Set race->complaint to the strongest link with one of the `count` complaints of the same run, of equal links to the first. */
void complaint_link_race(struct race *race, const struct complaint *complaints, size_t count);

/* Returns "same-function", "same-object" or "same-instruction". */
const char *complaint_link_word(enum complaint_link link);

#endif

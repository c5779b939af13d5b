/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Says which race a complaint of the guest's kernel belongs to. A complaint follows a race if it came at most 10 s after an
 * instance of the race, and if the code, the pointer or the object that it names is the race's (enum complaint_link).
 * Coincidence in time alone, or the same task, is no link: races can happen all the time, so that any complaint would follow
 * one. Pure functions.
 */
#ifndef OUTRIDER_RACE_COMPLAINT_LINK_H
#define OUTRIDER_RACE_COMPLAINT_LINK_H

#include "hv/race/race.h"

/* Set race->complaint to the strongest link with one of the `count` complaints of the same run, of equal links to the first. */
void complaint_link_race(struct race *race, const struct complaint *complaints, size_t count);

/* Returns "none", "same-function", "same-pointer", "same-object" or "same-instruction". */
const char *complaint_link_word(enum complaint_link link);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Says which race a complaint of the guest's kernel belongs to. A complaint follows a race if it came at most 10 s after an
 * instance of the race, and if the complaint names the race's code, pointer or object (enum complaint_link). Coincidence in
 * time alone, or the same task, is no link: races can happen all the time, so that any complaint would follow one. Pure
 * functions.
 */
#ifndef OUTRIDER_RACE_COMPLAINT_LINK_H
#define OUTRIDER_RACE_COMPLAINT_LINK_H

#include "hv/race/race.h"

/*
 * Set race->complaint to the complaint that has the strongest link to the race, out of the `count` complaints of the same run.
 * Of several complaints with equally strong links, the first one is taken.
 */
void complaint_link_race(struct race *race, const struct complaint *complaints, size_t count);

/* Returns "none", "same-function", "same-pointer", "same-object" or "same-instruction". */
const char *complaint_link_word(enum complaint_link link);

#endif

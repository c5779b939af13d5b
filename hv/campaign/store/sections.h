/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts the atomicity suspicions of a run's report to races. Both sides of such a race are functions with critical sections,
 * and the kinds of the sides (STORE_SECTIONS, STORE_SECTION) keep it apart from races of accesses. So the store treats a
 * suspicion as a race: it compares rounds, users can mark the suspicion as known or fixed, and lists and gates show it. Only
 * hv/campaign/store/ uses this header.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_SECTIONS_H
#define OUTRIDER_CAMPAIGN_STORE_SECTIONS_H

#include "hv/campaign/store/run_data.h"
#include "hv/race/lock_record.h"

/*
 * Append a race to d->races for each atomicity suspicion in `locks`. `locks` may be all zero. The caller has made room for
 * suspicions_of_atomicity() more races. The race has no sites and no instances: it is no pair of accesses. Its record is the
 * object that sections_json() makes. Its observations are the times that a critical section of one side was seen between the
 * two sections of the other side; there can be none. The rule of its verdict is the word of the suspicion's pattern
 * (atomicity_pattern_word()). The race is a harmful candidate if a copy confirmed the suspicion, and unclear otherwise. Call
 * text_failed() afterwards. Returns 0, or -1 with EXIT_INTERNAL if memory runs out.
 */
int run_data_take_sections(struct run_data *d, const struct lock_record *locks, struct err *err);

#endif

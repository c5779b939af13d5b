/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words for what is explored. Part of explore.h. */
#ifndef OUTRIDER_EXPLORE_WORDS_H
#define OUTRIDER_EXPLORE_WORDS_H

#include "hv/explore/facts.h"

/* Words for JSON, which never change. */
const char *explore_recorded_word(enum explore_recorded end);
const char *explore_schedule_word(enum explore_schedule schedule);
const char *explore_forced_word(enum explore_forced forced);
const char *explore_outcome_word(enum explore_outcome outcome);

#endif

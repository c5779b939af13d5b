/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a suspicion is worth, and how it is said. Only protect_judge() uses this header. */
#ifndef OUTRIDER_PRUNER_PROTECT_SAY_H
#define OUTRIDER_PRUNER_PROTECT_SAY_H

#include "pruner/prune_rules.h"
#include "pruner/protect_facts.h"

/* `points` for a lock that is held in all of `total` cases, none for one that is held in none. */
int protect_share(uint64_t held, uint64_t total, int points);

/* Set the rank of a suspicion of the kind UNPROTECTED, in which all else but the text is set. `rules` may be NULL. */
void protect_rank(const struct protection *p, const struct prune_rules *rules, struct suspicion *s);

/* Set the text of a suspicion in which all else is set. */
void protect_say(const struct protection *p, struct suspicion *s);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rank and the text of a suspicion. Only protect_judge() uses this header. */
#ifndef OUTRIDER_PRUNER_LOCKS_PROTECT_TEXT_H
#define OUTRIDER_PRUNER_LOCKS_PROTECT_TEXT_H

#include "pruner/locks/protect_facts.h"
#include "pruner/lists/prune_rules.h"

/* Returns `points` * `held` / `total`: the points for the share of cases in which the lock was held. */
int protect_share(uint64_t held, uint64_t total, int points);

/*
 * Set the rank of a suspicion of the kind SUSPICION_UNPROTECTED. All other members but the text must be set. `rules` may be
 * NULL.
 */
void protect_rank(const struct protection *p, const struct prune_rules *rules, struct suspicion *s);

/* Set the text of a suspicion whose other members are set. */
void protect_describe(const struct protection *p, struct suspicion *s);

#endif

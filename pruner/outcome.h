/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What came of running a race in both orders, beside what the rules say of its code (replay paper, sections 4.3 and 5). It may
 * make a race a harmful candidate. It may make an unclear race benign, but never a harmful candidate. Where rules and outcomes
 * disagree the evidence has both.
 */
#ifndef OUTRIDER_PRUNER_OUTCOME_H
#define OUTRIDER_PRUNER_OUTCOME_H

#include <stdint.h>

#include "hv/race/race.h"
#include "pruner/verdict.h"

/*
 * Instances without a state change that fold a race. Of the instances of the paper's harmful races only one in ten showed a
 * state change or a replay failure (its figure 4). Such a race passes for equal in 44 instances with a probability of 0.9^44,
 * which is less than 1%.
 */
#define OUTCOME_ENOUGH UINT64_C(44)

/*
 * Weigh the outcomes into a verdict that has its class, rule and evidence from the rules. `points` are those of the race within
 * its class. Returns the points with those of the outcomes.
 */
int outcome_weigh(const struct race *race, struct verdict *out, int points);

#endif

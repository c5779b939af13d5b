/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes a verdict of the rules by the outcomes of running the race in both orders (PLDI'07, sections 4.3 and 5). An outcome
 * may make any race a harmful candidate. It may make an unclear race benign, and a harmful candidate unclear, but never a
 * harmful candidate benign. If rule and outcome disagree, the evidence has both.
 */
#ifndef OUTRIDER_PRUNER_RULES_OUTCOME_H
#define OUTRIDER_PRUNER_RULES_OUTCOME_H

#include <stdint.h>

#include "hv/race/race.h"
#include "pruner/rules/verdict.h"

/*
 * After this number of instances without a state change a verdict becomes milder, if such instances can refute its rule
 * (rule.refuted_by_equal_states). In PLDI'07 only one in ten instances of the harmful races showed a state change or a replay
 * failure (figure 4). The probability that such a race shows neither in 44 instances is 0.9^44, below 1%.
 */
#define OUTCOME_ENOUGH UINT64_C(44)

/*
 * Apply the outcomes of the race to a verdict whose class, rule and evidence the rules have set. `points` are the race's
 * points within its class. Returns the points including the points for the outcomes.
 */
int outcome_weigh(const struct race *race, struct verdict *out, int points);

#endif

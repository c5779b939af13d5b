/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the instructions that execution can reach when some edges are removed from the control flow. */
#ifndef OUTRIDER_PRUNER_CODE_FLOW_REACHABILITY_H
#define OUTRIDER_PRUNER_CODE_FLOW_REACHABILITY_H

#include "pruner/code/code.h"

#define REACH_FROM_START (-1)
#define REACH_ALL (-1)

/*
 * Set reached[i] for each instruction that execution can reach. Execution starts at the successors of instruction `from`. With
 * REACH_FROM_START it starts at the function's start, and at each instruction without a predecessor in the kept code.
 * removed[i] is a successor of instruction `i` to which execution does not continue, or REACH_ALL if execution may continue to
 * all successors. Execution does not continue after an instruction in `ends`. `removed` and `ends` may be NULL.
 */
void reachable(const struct code *code, int from, const int16_t removed[RACE_CODE_MAX], const bool ends[RACE_CODE_MAX],
	       bool reached[RACE_CODE_MAX]);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the serial orders and all trials. */
#ifndef OUTRIDER_EXPLORE_TRIALS_H
#define OUTRIDER_EXPLORE_TRIALS_H

#include "hv/base/err.h"
#include "hv/explore/base.h"
#include "hv/explore/candidates.h"
#include "hv/explore/facts.h"
#include "hv/explore/kernel.h"

/*
 * Run the serial orders and the trials, config->jobs trials at a time, in this order:
 *  - Both serial orders. Then set base->part_ns.
 *  - The schedules of each candidate of `result` that are not expected to block, and after them the other schedules
 *    (explore_candidate.blocked), until there are config->trials trials. With config->chains, candidates_after() adds
 *    candidates in between.
 *  - config->walks random schedules (hv/explore/walk.h).
 * Unless config->keep_going, no trial starts after one that found harm. Sets serial, trials, trial_count, trials_ns, skipped,
 * schedules, places, probability, first, first_state and first_returns of `result`. Returns 0, or -1 with `err` set, also if a
 * serial order does harm already.
 */
int trials_run(struct base *base, const struct explore_config *config, const struct kernel *kernel,
	       const struct recordings *recordings, struct explore_result *result, struct err *err);

#endif

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
 * Run both serial orders, and then the schedules of each candidate of `result`, first those that are not expected to block,
 * until there are config->trials; then config->walks random schedules (hv/explore/walk.h). Unless config->keep_going, the first
 * one that finds harm is the end. After the serial orders, sets base->part_ns. config->jobs trials run at a time. Sets serial,
 * trials, trial_count, trials_ns, skipped, schedules, places, probability, first, first_state and first_returns of `result`.
 * With config->chains, candidates_after() is called in between. Returns 0, or -1 with `err` set, also if a serial order does
 * harm already.
 */
int trials_run(struct base *base, const struct explore_config *config, const struct kernel *kernel,
	       const struct recordings *recordings, struct explore_result *result, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saves a finding as a scenario (hv/replay/scenario/scenario.h), which `outrider replay` runs. */
#ifndef OUTRIDER_EXPLORE_SAVE_H
#define OUTRIDER_EXPLORE_SAVE_H

#include "hv/explore/base.h"
#include "hv/explore/facts.h"
#include "hv/explore/kernel.h"

/*
 * Save a scenario of the finding `t`, at the candidate `c`, by config->saver. In a copy of the base, the schedule of `t` is
 * forced again, up to the moment when both sides are before their accesses; if the schedule holds a side after its access, that
 * side is directly after its access. The scenario is the machine at this moment. Order 0 of its rendezvous is the forced order.
 * Then both orders are run, as `outrider run --replay` does. This takes as long as five trials or more. If the finding is a
 * complaint of the kernel, all this is tried up to three times, until the forced order ends in trouble, too. Sets t->scenario
 * and t->again. Returns 0, or -1 with `err` set and no scenario.
 */
int save_finding(const struct base *base, const struct explore_config *config, const struct kernel *kernel,
		 const struct explore_candidate *c, struct explore_trial *t, struct err *err);

#endif

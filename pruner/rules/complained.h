/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Weighs a complaint of the guest's kernel that follows a race (hv/race/complaint_link.h). Pure functions. */
#ifndef OUTRIDER_PRUNER_RULES_COMPLAINED_H
#define OUTRIDER_PRUNER_RULES_COMPLAINED_H

#include "pruner/patterns/view.h"
#include "pruner/rules/verdict.h"

/*
 * Make the race a harmful candidate if a complaint follows it that names the race's instruction, pointer or object. The
 * evidence then begins with the complaint, and ends with the verdict so far. A complaint that shares only a function with the
 * race counts as much if the kernel followed a NULL pointer there, and the datum is a pointer or that side computes an address
 * from it. Otherwise the class stays, and the rank rises a little. `points` are the race's points so far. Returns its new
 * points.
 */
int complained_weigh(const struct view *v, struct verdict *out, int points);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes a verdict by a complaint of the guest's kernel that came after the race (hv/race/complaint_link.h). Pure functions.
 */
#ifndef OUTRIDER_PRUNER_RULES_COMPLAINED_H
#define OUTRIDER_PRUNER_RULES_COMPLAINED_H

#include "pruner/patterns/view.h"
#include "pruner/rules/verdict.h"

/*
 * If a complaint after the race names the race's instruction, pointer or object, make the race a harmful candidate. The
 * evidence then begins with the complaint, and ends with the verdict so far. If the complaint only shares a function with the
 * race, the class stays, and the rank rises a little. But such a complaint, too, makes the race a harmful candidate if the
 * kernel followed a NULL pointer in the function, and either the datum is a pointer, or the side in that function computes an
 * address from the datum. `points` are the race's points so far. Returns its new points.
 */
int complained_weigh(const struct view *v, struct verdict *out, int points);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random schedules, for faults that the schedules of one candidate do not reach. They are made by PCT (Burckhardt and others,
 * "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS'10). A fault of depth d happens whenever d
 * accesses come in a certain order. The program with the higher priority runs; at a change point its priority becomes the
 * lowest, so the other program runs. With two programs, k places for change points and depth d, a schedule has d - 1 change
 * points, and hits a given fault of depth d with a probability of at least 1 / (2 * k^(d - 1)).
 */
#ifndef OUTRIDER_EXPLORE_WALK_H
#define OUTRIDER_EXPLORE_WALK_H

#include <stddef.h>

#include "hv/base/rng.h"
#include "hv/explore/drive.h"
#include "hv/explore/facts.h"

/* The places for change points: before an access of a candidate. */
struct walk_places {
	struct explore_point *place;
	size_t count;
};

/*
 * Find the places of all candidates without a reason for a lower rank (explore_reasons()), or of all candidates if all of them
 * have such a reason. A place that belongs to several candidates is counted once. Returns 0, or -1 if memory ran out;
 * walk_places_free() may follow in either case.
 */
int walk_find_places(struct walk_places *p, const struct explore_candidate *all, size_t count);
void walk_places_free(struct walk_places *p);

/* Choose a schedule: which program has the higher priority at first, and depth - 1 change points. `p` has at least one place.
 */
void walk_choose(const struct walk_places *p, unsigned depth, struct rng *rng, struct explore_walk *out);

/* Returns the lower bound of the probability that one schedule hits a given fault of this depth. */
double walk_probability(const struct walk_places *p, unsigned depth);

/*
 * Force the schedule in a copy in which both programs wait at the mark. Afterwards the copy may run freely (drive_freely()).
 * `ns` is the time limit for each turn of a program. A program that reaches neither a change point nor its end in this time
 * counts as blocked, and the other program runs, as in PCT. Returns EXPLORE_FORCED if all change points were reached,
 * EXPLORE_BLOCKED if only some were, or EXPLORE_NOT_REACHED if none was.
 */
enum explore_forced walk_force(struct drive *d, const struct explore_walk *w, uint64_t ns);

#endif

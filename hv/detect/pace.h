/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many points are armed, and which: k points, chosen uniformly (DataCollider, section 3.1.1), where k follows the rate of
 * hits (section 3.1.2). A hit uses its point up. Its successor is armed here, off the hit path.
 *
 * Belongs to the sampler's thread. d->lock is taken for what it guards.
 */
#ifndef OUTRIDER_DETECT_PACE_H
#define OUTRIDER_DETECT_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct detect;

struct pace {
	/* How many hits may still be provoked. */
	double budget;
	/* When the budget was last refilled (CLOCK_MONOTONIC), and how many hits there had been by then. */
	uint64_t last_ns, hits;
	/* When k was last adapted (CLOCK_MONOTONIC), and how many hits there had been by then. */
	uint64_t adapt_ns, adapt_hits;
	/* How many points were not armed because the bytes there were not as expected. */
	uint64_t refused;
	/* There are too few hits with as many points as there may be. */
	bool starved;
	/* The index in points.armed of the point whose turn it is to make room. */
	uint32_t turn;
};

/* Begin, with a few points wanted. */
void pace_init(struct detect *d, struct pace *pace);

/* Disarm and arm what is due at the time `now` (CLOCK_MONOTONIC). Without d->lock. */
void pace_step(struct detect *d, struct pace *pace, uint64_t now);

#endif

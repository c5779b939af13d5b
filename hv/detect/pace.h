/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many points are armed, and which: k points, chosen uniformly (DataCollider, section 3.1.1), where k follows the rate of
 * hits (section 3.1.2). A hit uses its point up. Its successor is armed here, off the hit path.
 *
 * Where the guest runs little of what is armed, or planting is slow, uniform choice does not reach the rate. Up to half of the
 * points are then in functions that the guest was seen to run, as far as the guest can bear the stops.
 *
 * Belongs to the sampler's thread. d->lock is taken for what it guards.
 */
#ifndef OUTRIDER_DETECT_PACE_H
#define OUTRIDER_DETECT_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/detect/governor.h"

struct detect;

struct pace {
	/* How many hits a second to aim at. It is config.rate, or with config.overhead what the governor says. */
	double rate;
	/* Only with config.overhead. */
	struct governor governor;
	/* governor_in_debt(): nothing more is to be planted. */
	bool in_debt;
	/* How many hits may still be provoked. */
	double budget;
	/* When the budget was last refilled (CLOCK_MONOTONIC), and how many hits there had been by then. */
	uint64_t last_ns, hits;
	/* When k was last adapted (CLOCK_MONOTONIC), and how many hits there had been by then. */
	uint64_t adapt_ns, adapt_hits;
	/* target_stats.stopped_ns by then. */
	uint64_t stopped_ns;
	/* How many points were not armed because the bytes there were not as expected. */
	uint64_t refused;
	/* The last uniform choices left no room for more. */
	bool full;
	/* Uniform choices were not armed since the last look at the rate because there were points on too many pages. */
	bool crowded;
	/* There are too few hits with as many points, or pages with points, as there may be, and all of these are armed. */
	bool starved;
	/*
	 * How many tries are made at a time to arm a site in a function that the guest was seen to run. It is 0 as long as more
	 * points, chosen uniformly, are enough for the rate.
	 */
	unsigned again;
	/* How many hits a second the guest can bear, and how many of them such points may still provoke. */
	double bearable, again_budget;
	/* Until this time (CLOCK_MONOTONIC) no site is chosen uniformly, because that has taken its share of a CPU's time. */
	uint64_t rest_until;
	/* How many of the passed sites, counted as stats.passed counts, the pool has been told of. */
	uint64_t passed_told;
	/* The figures of struct detect_stats with these names. */
	uint64_t planted, stale, arming_ns, armed_most;
	/* The index in points.armed of the point whose turn it is to make room. */
	uint32_t turn;
};

/* Begin, with a few points wanted. */
void pace_init(struct detect *d, struct pace *pace);

/* Disarm and arm what is due at the time `now` (CLOCK_MONOTONIC). Without d->lock. */
void pace_step(struct detect *d, struct pace *pace, uint64_t now);

#endif

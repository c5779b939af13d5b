/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rate control: how many sample points are armed, and which. k points are chosen uniformly (DataCollider, section 3.1.1), and
 * k follows the hit rate (section 3.1.2). A hit removes its point, and rate control arms the next one, off the hit path.
 *
 * If the guest runs little of the armed code, or if arming is slow, uniform choice does not reach the rate. Then up to half of
 * the points are in functions that the guest was seen to run, as far as the guest can bear the stops.
 *
 * Used by the sampler's thread. It takes d->lock where it needs what the lock guards.
 */
#ifndef OUTRIDER_DETECT_STEER_RATE_H
#define OUTRIDER_DETECT_STEER_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/detect/steer/governor.h"

struct detect;

struct rate_control {
	/* Target hit rate in hits/s: config.rate, or the governor's rate with config.overhead. */
	double rate;
	/* Used with config.overhead only. */
	struct governor governor;
	/* governor_in_debt(): arm nothing. */
	bool in_debt;
	/* Hit budget: number of hits that may still be provoked. */
	double budget;
	/* When the budget was last refilled (CLOCK_MONOTONIC, ns), and the number of hits by then. */
	uint64_t last_ns, hits;
	/* When k was last adapted (CLOCK_MONOTONIC, ns), and the number of hits by then. */
	uint64_t adapt_ns, adapt_hits;
	/* target_stats.stopped_ns at that time. */
	uint64_t stopped_ns;
	/* Number of sites not armed because their text had changed. */
	uint64_t refused;
	/* The last round of uniform choices used all room for points. */
	bool full;
	/* Since k was last adapted, uniform choices were refused because points were on too many pages. */
	bool crowded;
	/* Too few hits, although all points, or pages with points, that the target has are in use. */
	bool starved;
	/*
	 * Number of tries per iteration to arm a site in a function that the guest was seen to run. 0 as long as more
	 * uniformly chosen points reach the rate.
	 */
	unsigned again;
	/* Hits/s that the guest can bear, and the number of hits that `again` points may still provoke. */
	double bearable, again_budget;
	/*
	 * Until this time (CLOCK_MONOTONIC, ns) no site is chosen uniformly, because arming used up its share of a CPU's time.
	 */
	uint64_t rest_until;
	/* Number of executed sample points (stats.executed) that pool_executed() was called for. */
	uint64_t executed_told;
	/* The statistics of the same names in struct detect_stats. */
	uint64_t planted, stale, arming_ns, armed_most;
	/* Index in points.armed of the next point that disarm_stale() looks at. */
	uint32_t turn;
};

/* Initialise, with a first number of points. */
void rate_init(struct detect *d, struct rate_control *control);

/* Adapt to the hit rate, and disarm and arm points accordingly. `now` is CLOCK_MONOTONIC in ns. Called without d->lock. */
void rate_step(struct detect *d, struct rate_control *control, uint64_t now);

#endif

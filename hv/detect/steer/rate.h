/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rate control: how many sample points are armed, and which. The number of points to keep armed is called k. The points are
 * chosen uniformly (DataCollider, section 3.1.1), and k follows the hit rate (section 3.1.2). A hit removes its point, and rate
 * control arms the next one, off the hit path.
 *
 * If the guest runs little of the armed code, or if arming is slow, uniform choice does not reach the rate. Then up to half of
 * the points are in functions that the guest was seen to run, as far as the guest can bear the stops. These are called `again`
 * points.
 *
 * Used by the sampler's thread, without d->lock: the functions take d->lock where they need it.
 */
#ifndef OUTRIDER_DETECT_STEER_RATE_H
#define OUTRIDER_DETECT_STEER_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/detect/steer/governor.h"
#include "hv/detect/steer/steered.h"
#include "hv/detect/steer/yield.h"

struct detect;

struct rate_control {
	/* Target hit rate in hits/s: config.rate, or the governor's rate with config.overhead. */
	double rate;
	/* Used with config.overhead only. */
	struct governor governor;
	/* The last result of governor_in_debt(). While it is true, no point is armed. */
	bool in_debt;
	/* Hit budget: number of hits that may still be provoked. */
	double budget;
	/* When the hit budget was last refilled (CLOCK_MONOTONIC, ns), and how many hits the run had had by then. */
	uint64_t last_ns, hits;
	/* When k was last adapted (CLOCK_MONOTONIC, ns), and the number of hits by then. */
	uint64_t adapt_ns, adapt_hits;
	/* target_stats.stopped_ns when k was last adapted. */
	uint64_t stopped_ns;
	/* Number of tries to arm a site that failed (REFUSED), for example because its text had changed. */
	uint64_t refused;
	/* The last call of arm_uniformly() armed as many points as it had room for. */
	bool full;
	/* Since k was last adapted, uniform choices were refused because points were on too many pages. */
	bool crowded;
	/* There are too few hits, and the target allows no more points, or no more pages with points. */
	bool starved;
	/* Number of tries per iteration to arm an `again` point. 0 as long as uniformly chosen points alone reach the rate. */
	unsigned again;
	/* Hits/s that the guest can bear, and the number of hits that `again` points may still provoke. */
	double bearable, again_budget;
	/*
	 * Until this time (CLOCK_MONOTONIC, ns) no site is chosen uniformly, because arming used up its share of a CPU's time.
	 */
	uint64_t rest_until;
	/* Number of executed sample points (stats.executed) that rate control has learned from. */
	uint64_t executed_told;
	/* Counts for the members of struct detect_stats with the same names. */
	uint64_t planted, stale, passed_over, arming_ns, armed_most;
	/* For each function, how many of its hits open windows. */
	struct yields yields;
	/* Points in functions with news. */
	struct steering steering;
	/* Index in points.armed of the next point that disarm_stale() looks at. */
	uint32_t turn;
};

/* Initialise `control`, and set the first number of points to keep armed (d->sampler.wanted). */
void rate_init(struct detect *d, struct rate_control *control);

/* Adapt to the hit rate, and disarm and arm points accordingly. `now` is CLOCK_MONOTONIC in ns. Called without d->lock. */
void rate_step(struct detect *d, struct rate_control *control, uint64_t now);

#endif

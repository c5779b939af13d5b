/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steered points: sample points that are not chosen at random. They go to functions with news (talkers.h), and to the first
 * site of each function of new text, because that site shows whether the guest runs the function at all. Steered points get at
 * most half of the hits and half of the points, so that every site is still sampled at random, too.
 *
 * Used by the sampler's thread, without d->lock: the functions take d->lock where they need it.
 */
#ifndef OUTRIDER_DETECT_STEER_STEERED_H
#define OUTRIDER_DETECT_STEER_STEERED_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/detect/core/hit_path.h"
#include "hv/detect/steer/talkers.h"

struct detect;

/* Number of steered points that may be armed at one time in functions with news. */
#define STEERED_POINTS 512u

/* A steered point and when it was armed (CLOCK_MONOTONIC, ns). */
struct steered_point {
	uint64_t site, armed_ns;
};

struct steering {
	struct talkers talkers;
	/* Ring of the steered points in functions with news, the oldest at `first`. Points that were hit are in it, too. */
	struct steered_point points[STEERED_POINTS];
	unsigned first, count;
	/* Number of hits that steered points may still provoke. Refilled at half of the target hit rate. */
	double budget;
	/*
	 * Number of steered hits, and of conflicts that the reporter has attributed (hit_path.met), that were taken into
	 * account so far.
	 */
	uint64_t hits_told, met_told;
	/* Number of steered points that were armed so far, and number of those at the first site of a function. */
	uint64_t armed, first_sites;
};

/*
 * Refill the budget: `seconds` passed at the target rate of `rate` hits/s. Takes into account the steered hits and the
 * conflicts since the last call. `now` is CLOCK_MONOTONIC in ns.
 */
void steered_refill(struct detect *d, struct steering *s, double rate, double seconds, uint64_t now);

/* A CPU executed a sample point: update the record of the site, and the news of its function (talkers.h). */
void steered_learn(struct detect *d, struct steering *s, const struct executed_point *executed, uint64_t now);

/*
 * Arm steered points, at most `room` of them, and disarm those in functions with news that no CPU came to. With
 * `first_sites` false, arm none at first sites of functions. Returns the number of armed points. Called between target_enter()
 * and target_leave().
 */
uint32_t steered_arm(struct detect *d, struct steering *s, uint32_t room, bool first_sites, uint64_t now);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arms the sites of the accesses whose data are followed (fates.h), in turn, while sampling goes on. Used by
 * the sampler's thread only.
 */
#ifndef OUTRIDER_DETECT_LOCKS_FATE_SITES_H
#define OUTRIDER_DETECT_LOCKS_FATE_SITES_H

#include <stdint.h>

struct detect;

/* All zero: nothing was armed yet. */
struct fate_sites {
	/* Number of points that may be armed now, and when this budget was last refilled (CLOCK_MONOTONIC, ns). */
	double budget;
	uint64_t last_ns;
};

/* Arm some sites. `now` is CLOCK_MONOTONIC in ns. Called without d->lock. */
void fate_sites_step(struct detect *d, struct fate_sites *sites, uint64_t now);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rig of detect_rig.h with the sampler's rate control, for tests that are the sampler's thread and set the time. A pool of
 * all named functions comes with sampler_rig_begin().
 */
#ifndef OUTRIDER_TESTS_SAMPLER_RIG_H
#define OUTRIDER_TESTS_SAMPLER_RIG_H

#include "hv/detect/steer/rate.h"
#include "tests/unit/detect/detect_rig.h"

#define TICK_NS 10000000u

struct sampler_rig {
	struct rig *r;
	struct rate_control control;
	uint64_t now; /* CLOCK_MONOTONIC, which the test moves on */
	unsigned hits;
};

/*
 * For setup and teardown of cmocka: make *state a rig of 2 CPUs with 4 watches and the detector of this configuration, and free
 * it. The configuration's seed and delay_ns are those of rig_new(). Returns -1 if memory ran out.
 */
int sampler_rig_setup(void **state, unsigned rate, bool coverage);
int sampler_rig_teardown(void **state);

/* Fill the pool with the functions that are named, and start rate control. Returns the number of these functions. */
int sampler_rig_begin(struct sampler_rig *f);

/* Let TICK_NS pass, with a step of rate control at its end. */
void sampler_rig_tick(struct sampler_rig *f);

#endif

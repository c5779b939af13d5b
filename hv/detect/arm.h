/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arming one site: from its address to a planted point. Belongs to the sampler's thread, without d->lock. */
#ifndef OUTRIDER_DETECT_ARM_H
#define OUTRIDER_DETECT_ARM_H

#include <stdbool.h>
#include <stdint.h>

struct detect;

enum arm_result {
	ARMED,
	ARMED_ALREADY, /* a point stands there already */
	REFUSED,       /* no such instruction stands there any more, or its text is about to be freed */
	NONE,	       /* the pool has no site */
};

/*
 * Arm a site, if what stands there is still such an instruction. 0 is no site. `again`: it was chosen because the guest was
 * seen to run its function.
 */
enum arm_result arm_site(struct detect *d, uint64_t addr, bool again);

#endif

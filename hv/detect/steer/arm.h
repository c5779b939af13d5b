/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arming one site: from its address to a planted sample point. Called on the sampler's thread, without d->lock. */
#ifndef OUTRIDER_DETECT_STEER_ARM_H
#define OUTRIDER_DETECT_STEER_ARM_H

#include <stdbool.h>
#include <stdint.h>

struct detect;

enum arm_result {
	ARMED,
	ARMED_ALREADY, /* nothing was planted: the site has a point already */
	REFUSED,       /* nothing was planted, for example because the text has changed or is about to be freed */
	NONE,	       /* `addr` is 0, because the pool has no site */
};

/* Why a site was chosen. */
enum arm_why {
	ARM_CHANCE,  /* the site was chosen at random from all sites, or is a target site */
	ARM_AGAIN,   /* the site was chosen at random from functions that the guest was seen to run (rate.h) */
	ARM_STEERED, /* the site is in a function with news, or is the first site of a function (steered.h) */
};

/* Arm the site at GVA `addr`, if the instruction there may be sampled. `why` is stored in the point. */
enum arm_result arm_site(struct detect *d, uint64_t addr, enum arm_why why);

#endif

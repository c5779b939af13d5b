/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Planting lock hooks at callbacks of hand-overs, such as work functions (handover.h). */
#ifndef OUTRIDER_DETECT_LOCKS_CALLBACK_HOOKS_H
#define OUTRIDER_DETECT_LOCKS_CALLBACK_HOOKS_H

struct detect;

/*
 * Plant hooks at the first instruction and at the ends of each callback of the subject (the sampled code) that is new. The
 * sampler calls this in each iteration. Needs config.locks. Called without d->lock.
 */
void callback_hooks_step(struct detect *d);

#endif

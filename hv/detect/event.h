/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Event points: breakpoints that tell us what the guest's kernel is about to do. They stay where they are, so the instruction
 * under them is carried out by the detector; guest_event_sites() offers only such as can be.
 */
#ifndef OUTRIDER_DETECT_EVENT_H
#define OUTRIDER_DETECT_EVENT_H

#include "hv/detect/point.h"
#include "hv/target/target.h"

struct detect;

/* Plant all that the guest offers. On the sampler's thread, before the first sample point, without d->lock. */
void event_plant(struct detect *d);

/* A CPU stopped at an event point: act on the event, and carry out the instruction. Under d->lock. */
struct target_action event_hit(struct detect *d, struct point *point, unsigned cpu, struct x86_regs *regs);

/*
 * The text [base, base+size) is about to be freed: take every point out of it, and end the windows of CPUs that are held in it.
 * Under d->lock.
 */
void event_text_gone(struct detect *d, uint64_t base, uint64_t size);

#endif

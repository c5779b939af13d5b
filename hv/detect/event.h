/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Event points: breakpoints that tell us what the guest's kernel is about to do. They stay where they are while CPUs pass them,
 * so the instruction under them is carried out by us: it must be one that target_can_emulate() accepts.
 */
#ifndef OUTRIDER_DETECT_EVENT_H
#define OUTRIDER_DETECT_EVENT_H

#include "hv/detect/point.h"
#include "hv/guest/guest.h"
#include "hv/target/target.h"

struct detect;

/*
 * Plant an event point at site->insn.addr, while the guest runs or before. Returns 0, or -1 when nothing was planted: the
 * instruction cannot be carried out, a point stands there already, there are MAX_EVENT_POINTS or the target has too few points
 * for events, the text is not mapped, is about to be freed or is not this instruction any more, or the detector is on its way
 * out. A sample point cannot be in the way: it stands on an access to memory, and no such instruction can be carried out.
 *
 * target_intercept() must be on. Takes d->lock through detect_enter(): from any thread, but not from a callback and not under
 * d->lock. A CPU that reaches the instruction after the return stops there.
 */
int event_add(struct detect *d, const struct guest_event_site *site);

/*
 * Take out the event point at this GVA. Returns 0, or -1 when there is none. Threads and locks are as with event_add(). After
 * the return no CPU is in event_hit() for it or comes there; a CPU that has executed its INT3 by then executes the guest's own
 * instruction. What event_text_gone() or detect_stop() took out is gone already.
 */
int event_remove(struct detect *d, uint64_t addr);

/*
 * Plant all that the guest offers, and have the debug registers of all CPUs looked at, since what the guest set before was seen
 * by nobody. On the sampler's thread, before the first sample point, without d->lock.
 */
void event_plant(struct detect *d);

/* A CPU stopped at an event point: act on the event, and carry out the instruction. In a callback, under d->lock. */
struct target_action event_hit(struct detect *d, struct point *point, unsigned cpu, struct x86_regs *regs);

/*
 * The text [base, base+size) is about to be freed: take every point out of it, and end the windows of CPUs that are held in it.
 * Under d->lock.
 */
void event_text_gone(struct detect *d, uint64_t base, uint64_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides whether hand-overs order two accesses: the context of the first access released an object after that access, and the
 * context of the second access acquired this object before its own access, directly or through a chain of such steps.
 *
 * Locks are left out, as in hybrid detectors (O'Callahan and Choi, PPoPP 2003). A lock orders whatever happens to use it, and
 * a lock in such a chain would hide races that the locksets show.
 *
 * The search goes back through the ring of lock_order.h, from the second access to the first. So an access costs nothing until
 * its pair is suspected and confirmed, and there are no vector clocks to allocate and to join for each task and object.
 *
 * Guarded by the detector's lock.
 */
#ifndef OUTRIDER_DETECT_STEER_HANDOVER_ORDER_H
#define OUTRIDER_DETECT_STEER_HANDOVER_ORDER_H

#include "hv/detect/steer/lock_order.h"

enum handover_order {
	/*
	 * Too long ago. Or the address of an object that was released may be another object's when it was acquired. Or the
	 * acquiring call returned unseen, perhaps before the release (lock_event.since). Or an object on the way was handed
	 * over several times since the first access: in a loop, any access is ordered before those of later rounds, whether or
	 * not the accesses of one round are ordered.
	 */
	HANDOVER_ORDER_UNKNOWN,
	HANDOVER_ORDER_NONE,
	HANDOVER_ORDER_FIRST, /* hand-overs put `first` before `second` */
	/*
	 * Not ordered by hand-overs, but `second` is made by a handler of an interrupt that began after `first`. The device
	 * raises the interrupt because it was told to, which no call shows, so an order is possible.
	 */
	HANDOVER_ORDER_LATER,
};

/* The object at `gva` was freed or allocated: what was released in it is not acquired by later hand-overs of that address. */
void handover_object_ends(struct lock_events *e, uint64_t gva);

/* Returns whether hand-overs order two accesses by different contexts. first->number must be less than second->number. */
enum handover_order handover_order(const struct lock_events *e, const struct lock_hit *first, const struct lock_hit *second);

#endif

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
	 * The order is not known. Either the ring no longer has all events since the first access; or the object at this
	 * address may have been replaced by another one between release and acquire; or the acquiring call returned unseen,
	 * perhaps before the release (lock_event.since); or an object in the chain was handed over several times since the
	 * first access, as in a loop. Such hand-overs order an access before the accesses of later passes of the loop, but the
	 * two accesses may belong to one pass, within which nothing orders them.
	 */
	HANDOVER_ORDER_UNKNOWN,
	HANDOVER_ORDER_NONE,
	HANDOVER_ORDER_FIRST, /* hand-overs put `first` before `second` */
	/*
	 * Hand-overs do not order the accesses, but `second` is made by a handler of an interrupt that began after `first`.
	 * The device may have raised the interrupt because the first context told it to. No call shows that, so an order is
	 * possible.
	 */
	HANDOVER_ORDER_LATER,
};

/*
 * The object at `gva` was freed or allocated: mark its events, so that a later acquire at this address does not belong to a
 * release of the old object.
 */
void handover_object_ends(struct lock_events *e, uint64_t gva);

/* Returns whether hand-overs order two accesses by different contexts. first->number must be less than second->number. */
enum handover_order handover_order(const struct lock_events *e, const struct lock_hit *first, const struct lock_hit *second);

#endif

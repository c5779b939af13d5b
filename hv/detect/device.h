/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Devices as the other side of a window. A device has no CPU, so neither a watchpoint nor a breakpoint catches it, but the
 * target says what it accesses (caps.devices): the segments of the requests that it serves, and its rings.
 *
 * From the moment that a device takes a request until it hands it back, the request's segments are the device's. So a sampled
 * access conflicts with a segment that it overlaps, if one of the two writes, whichever began first, and also when no byte
 * changes. A ring is accessed by both sides at the same time by design: what a device does there is no conflict, and when the
 * memory is read again at a window's end, its changes are not taken for those of a writer that nobody saw.
 *
 * All of these functions are called under d->lock.
 */
#ifndef OUTRIDER_DETECT_DEVICE_H
#define OUTRIDER_DETECT_DEVICE_H

#include "hv/detect/state.h"

/* A device's access that conflicts with a window. */
struct device_conflict {
	/* The datum of the window. NULL: there is no conflict. */
	const struct datum *datum;
	/* The access, cut to what the datum has in common with it. */
	struct device_access access;
};

/*
 * The window `w` is about to open. Have devices tell of accesses to its memory from now on, and look at what they access now.
 * Returns a conflict if there is one. To be called before the memory is first looked at.
 */
struct device_conflict device_window_opens(struct detect *d, struct window *w);

/* A window has closed, or has not opened: have devices tell of accesses to the memory of the open windows only. */
void device_window_closed(struct detect *d);

/* Whether the access, of a segment, conflicts with the window. */
struct device_conflict device_meets(const struct window *w, const struct device_access *access);

/* A device makes this access, to a ring: if it is to the memory of the window, the window has to expect it. */
void device_ring_meets(struct detect *d, struct window *w, const struct device_access *access);

#endif

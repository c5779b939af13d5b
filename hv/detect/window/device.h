/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device as the other side of a race. A device has no CPU, so no watchpoint and no breakpoint catches its accesses. Instead
 * the target reports these accesses (caps.devices). A device accesses the memory segments of the requests that it serves, and
 * its rings, which are its virtqueues.
 *
 * The segments of a request belong to the device from when the device takes the request until it hands the request back. A
 * sampled access that overlaps a segment conflicts with it if either side writes, whichever began first, and even if no byte
 * changes. A ring is accessed by device and driver at the same time by design. Accesses to a ring are no conflicts, and when
 * the window reads the memory again, a device's change of a ring does not count as an unseen writer's.
 *
 * The caller of each function holds d->lock.
 */
#ifndef OUTRIDER_DETECT_WINDOW_DEVICE_H
#define OUTRIDER_DETECT_WINDOW_DEVICE_H

#include "hv/detect/core/state.h"

/* A device's access that conflicts with a window. */
struct device_conflict {
	/* The window's datum. NULL: no conflict. */
	const struct datum *datum;
	/* The access, cut to the bytes that it shares with the datum. */
	struct device_access access;
};

/*
 * The window `w` is about to open: have devices report accesses to its memory from now on, and check the requests in flight.
 * Returns a conflict with one of these requests, if any. Call it before the window first reads the memory: then no device
 * access between the check and that read is missed.
 */
struct device_conflict device_window_opens(struct detect *d, struct window *w);

/* A window has closed, or did not open: have devices report accesses to the memory of open windows only. */
void device_window_closed(struct detect *d);

/* Returns the window's first datum with which a device's access to a segment conflicts, if any. */
struct device_conflict device_find_conflict(const struct window *w, const struct device_access *access);

/*
 * A device accesses a ring. If it writes, record in datum.explained which bytes of the window's data it writes, so that a
 * change of these bytes is not blamed on an unseen writer.
 */
void device_ring_explain(struct detect *d, struct window *w, const struct device_access *access);

#endif

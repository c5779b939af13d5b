/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a rendezvous ends. A rendezvous (rendezvous.h) holds two CPUs before conflicting accesses, the first one in a window. The
 * caller of each function holds d->lock.
 */
#ifndef OUTRIDER_DETECT_WINDOW_RENDEZVOUS_END_H
#define OUTRIDER_DETECT_WINDOW_RENDEZVOUS_END_H

#include "hv/detect/core/state.h"

#define RENDEZVOUS_NO_CPU TARGET_MAX_CPUS

/*
 * End the rendezvous and release the second CPU. The caller closes the window and releases the first CPU. `self` is the CPU
 * whose callback makes this call, or RENDEZVOUS_NO_CPU. The callback's return value resumes `self`, so this function does not
 * release `self`: a target_release() would end the next hold of `self`.
 */
void rendezvous_end(struct detect *d, bool took_place, unsigned self);

/*
 * Whether this is the second CPU of a rendezvous. In an interrupt handler this CPU can hit other points, but no window may open
 * for them.
 */
bool rendezvous_has(const struct detect *d, unsigned cpu);

/* The window closes: if it is part of a rendezvous, skip the rendezvous and release the second CPU. */
void rendezvous_window_closes(struct detect *d, const struct window *w);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a meeting ends: the part of meet.h that windows need. Called under d->lock. */
#ifndef OUTRIDER_DETECT_MEET_END_H
#define OUTRIDER_DETECT_MEET_END_H

#include "hv/detect/state.h"

#define MEET_NO_CPU TARGET_MAX_CPUS

/*
 * The meeting is over. Its window, and the CPU that is held there, are the caller's. `self` is the CPU in whose callback this
 * is, or MEET_NO_CPU: it is let go by what the callback returns, and a release would be taken for one of its next hold.
 */
void meet_end(struct detect *d, bool took_place, unsigned self);

/* Whether this is the second CPU of a meeting. In an interrupt handler it may come by other points, and no window may open. */
bool meet_has(const struct detect *d, unsigned cpu);

/* The window closes. If it is in a meeting, that is skipped, and the second CPU is let go. */
void meet_window_closes(struct detect *d, const struct window *w);

#endif

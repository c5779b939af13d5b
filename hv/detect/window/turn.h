/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking turns: one CPU must always run, so when the last CPU that runs hits a sample point, it can be held only if the window
 * of another CPU ends. The caller of each function holds d->lock.
 */
#ifndef OUTRIDER_DETECT_WINDOW_TURN_H
#define OUTRIDER_DETECT_WINDOW_TURN_H

#include "hv/detect/core/state.h"

/*
 * Whether one more CPU may be held. If another window must end for that, *over is set to this window, otherwise to NULL. An
 * open window has had its turn after a quarter of its time. The window to end is the oldest one that has had its turn. But a
 * window does not end for another one if its CPU is held for the whole time (window.whole) or between critical sections
 * (between.h), if the window is part of a rendezvous, or if its memory has changed.
 */
bool turn_may_hold(struct detect *d, struct window **over);

/* End this window, and release its CPU. */
void turn_end(struct detect *d, struct window *w);

#endif

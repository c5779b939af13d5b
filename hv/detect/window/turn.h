/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking turns: one CPU must always run, so when the last CPU that runs hits a sample point, it can be held only if the window
 * of another CPU ends. The caller of each function holds d->lock.
 */
#ifndef OUTRIDER_DETECT_WINDOW_TURN_H
#define OUTRIDER_DETECT_WINDOW_TURN_H

#include "hv/detect/core/state.h"

/*
 * Whether one more CPU may be held. If another window must end for that, *over is set to this window, otherwise to NULL. The
 * window to end is the oldest of the open windows that have had their turn, which takes a quarter of a window's time. A window
 * that is held for its whole time (window.whole), that is part of a rendezvous, that is between critical sections, or whose
 * memory has changed never gives up its turn.
 */
bool turn_may_hold(struct detect *d, struct window **over);

/* End this window, and release its CPU. */
void turn_end(struct detect *d, struct window *w);

#endif

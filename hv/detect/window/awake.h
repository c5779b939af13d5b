/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out whether a CPU may make an access that conflicts with an open window. Such a CPU runs, or it sleeps and is likely to
 * wake up before the window ends.
 */
#ifndef OUTRIDER_DETECT_WINDOW_AWAKE_H
#define OUTRIDER_DETECT_WINDOW_AWAKE_H

#include "hv/detect/core/state.h"

/* Whether a CPU that no window holds is running. The caller holds d->lock. */
bool awake_any(const struct detect *d);

/*
 * Whether a CPU that no window holds is running, or sleeps and is likely to wake up within `ns`: in the past, its sleeps took
 * no longer than this on average. On a target that does not count wake-ups, returns what awake_any() returns. The caller holds
 * d->lock.
 */
bool awake_within(struct detect *d, uint64_t ns);

#endif

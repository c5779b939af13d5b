/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_DETECT_UNWINDING_H
#define OUTRIDER_DETECT_UNWINDING_H

#include "hv/guest/guest.h"
#include "hv/race/observation.h"

/*
 * Unwind the calls of a side that capture_side() has started. Of the copies of its stacks only what was needed for this is
 * kept. Not in a callback.
 */
void unwinding_side(const struct guest *guest, struct race_side *side);

#endif

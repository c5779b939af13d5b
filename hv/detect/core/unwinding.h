/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwinds the call stack of one side of an observation, after the side was captured. */
#ifndef OUTRIDER_DETECT_CORE_UNWINDING_H
#define OUTRIDER_DETECT_CORE_UNWINDING_H

#include "hv/guest/guest.h"
#include "hv/race/observation.h"

/*
 * Unwind the calls of a side that capture_side() has started. Keeps only the parts of the copied stacks that the unwinder
 * used. Must not be called in a callback.
 */
void unwinding_side(const struct guest *guest, struct race_side *side);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies the state of a stopped CPU into one side of an observation: registers, context and stacks. */
#ifndef OUTRIDER_DETECT_CORE_CAPTURE_H
#define OUTRIDER_DETECT_CORE_CAPTURE_H

#include "hv/guest/guest.h"
#include "hv/race/observation.h"
#include "hv/target/target.h"

/*
 * Begin one side of an observation: copy the registers, the context and the stacks of a stopped CPU. Clears the access, the
 * locks, the names and the code, which the caller and the reporter fill in later. Called in a callback of the target.
 */
void capture_side(struct target *target, const struct guest *guest, unsigned cpu, const struct x86_regs *regs,
		  const struct guest_context *context, struct race_side *side);

#endif

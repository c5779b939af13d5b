/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the detector does when a CPU executes a hook (hook.h). */
#ifndef OUTRIDER_DETECT_WINDOW_HOOK_HIT_H
#define OUTRIDER_DETECT_WINDOW_HOOK_HIT_H

#include "hv/detect/core/point.h"
#include "hv/target/target.h"

struct detect;

/* A CPU hit a hook: act on it and emulate the instruction. Called in a callback, under d->lock. */
struct target_action hook_hit(struct detect *d, struct point *point, unsigned cpu, struct x86_regs *regs);

/*
 * The text [base, base+size) is about to be freed: remove every point in it, and close windows whose CPU is held in it. The
 * caller holds d->lock.
 */
void hook_text_gone(struct detect *d, uint64_t base, uint64_t size);

#endif

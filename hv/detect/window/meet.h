/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Brings about a rendezvous of sections (hv/race/rendezvous.h): holds a CPU before the call that begins the first of two
 * critical sections of one function, until another context is about to take the same lock. Such a hold is a window without an
 * access, as in between.h. The second section may be of another lock. One limit of time (between_may_spend()) bounds the holds
 * of both kinds together. The caller holds d->lock.
 */
#ifndef OUTRIDER_DETECT_WINDOW_MEET_H
#define OUTRIDER_DETECT_WINDOW_MEET_H

#include "hv/detect/core/point.h"
#include "hv/target/target.h"

struct detect;

/*
 * A CPU hit the lock hook `point`. Returns true if the CPU is to be held before the call; *action is then set, and the hook
 * must do nothing yet: the CPU hits it again.
 */
bool meet_hold(struct detect *d, const struct point *point, unsigned cpu, const struct x86_regs *regs,
	       struct target_action *action);

#endif

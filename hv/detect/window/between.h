/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds a CPU between two critical sections of one lock, before the call that takes the lock again, until a section of another
 * context has come in between, or the time is over. Such a hold is a window without an access: it counts in open_windows, costs
 * what a window costs, and ends as a window does. The CPU never gives up its turn (turn.h). All such holds together take at
 * most a small share of the time.
 *
 * No CPU is held on a target with costly stops. The caller of each function holds d->lock.
 */
#ifndef OUTRIDER_DETECT_WINDOW_BETWEEN_H
#define OUTRIDER_DETECT_WINDOW_BETWEEN_H

#include "hv/detect/core/point.h"
#include "hv/target/target.h"

struct detect;
struct window;

/*
 * A CPU hit the lock hook `point`. Returns true if the CPU is to be held before the call, for the first time or again after an
 * interrupt; *action is then set, and the hook must do nothing yet: the CPU hits it again.
 */
bool between_hold(struct detect *d, const struct point *point, unsigned cpu, const struct x86_regs *regs,
		  struct target_action *action);

/*
 * Whether this CPU may be held at a critical section at the time `now` (CLOCK_MONOTONIC, ns). Three limits must allow it: the
 * share of time for all such holds, config.overhead, and window_cpu_may_be_held().
 */
bool between_may_spend(struct detect *d, unsigned cpu, uint64_t now);

/*
 * The CPU is at a lock hook. If another CPU is held for this context at this hook, end that hold: the context has moved to
 * this CPU. Returns whether a hold was ended.
 */
bool between_end_elsewhere(struct detect *d, unsigned cpu, const struct x86_regs *regs);

/*
 * The window `w` of a hold between sections opens: count the window, and charge its time to the limits of between_may_spend().
 */
void between_open(struct detect *d, struct window *w);

/* A lock hook was served: release the CPUs that are held between sections, and for which a section has come in between. */
void between_met(struct detect *d);

/* The text [base, base+size) is about to be freed: end the holds in it. */
void between_text_gone(struct detect *d, uint64_t base, uint64_t size);

#endif

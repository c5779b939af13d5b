/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gets that come after the last put. A *get* is a LOCKed instruction that increments a count, as in atomic_inc() and
 * refcount_inc(); a *put* decrements it, and the last put makes it 0, after which the object may be freed. Two LOCKed
 * instructions do not race. But who gets a reference must know that there is one: by a lock that keeps others from the last
 * put, or by a test in the same instruction (inc_not_zero, a cmpxchg). So a CPU is held before a get. If another CPU makes the
 * count 0 meanwhile, the get comes after the last put (Documentation/RCU/rcuref.rst of Linux names this error).
 *
 * The functions here belong to the hit path, and are called with the detector's lock held.
 */
#ifndef OUTRIDER_DETECT_WINDOW_LAST_PUT_H
#define OUTRIDER_DETECT_WINDOW_LAST_PUT_H

#include <stdbool.h>

struct datum;
struct detect;
struct point;
struct window;
struct x86_regs;

/* Returns whether the point's instruction may be a get. No other LOCKed instruction is a site. */
bool last_put_is_get(const struct point *point);

/*
 * Returns whether it makes sense to hold the CPU before the get at `point`: the instruction adds to the count `datum`, whose
 * users may all be gone before the window ends.
 */
bool last_put_may_come(struct detect *d, const struct point *point, const struct x86_regs *regs, const struct datum *datum);

/* A CPU has just written to the count of this window's get. Returns whether the count is 0 now. */
bool last_put_came(struct detect *d, const struct datum *datum);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gets that come after the last put. A *get* is a LOCKed instruction that increments a count, as in atomic_inc() and
 * refcount_inc(); a *put* decrements it, and the last put makes it 0, after which the object may be freed. Two LOCKed
 * instructions do not race. But code that gets a reference must keep the last put away until then: by a lock that the other
 * users take, or by a test in the same instruction (inc_not_zero, a cmpxchg). So a CPU is held before a get. If another CPU
 * makes the count 0 meanwhile, the get comes after the last put. The right ways are in Linux's Documentation/RCU/rcuref.rst.
 *
 * The functions here belong to the hit path, and are called with the detector's lock held.
 */
#ifndef OUTRIDER_DETECT_WINDOW_LAST_PUT_H
#define OUTRIDER_DETECT_WINDOW_LAST_PUT_H

#include <stdbool.h>

struct detect;
struct point;
struct window;

/* Returns whether the point's instruction may be a get. No other LOCKed instruction is a site. */
bool last_put_is_get(const struct point *point);

/*
 * Returns whether it makes sense to hold the CPU in the prepared window `w`, which is before a get: the instruction adds to a
 * count whose users may all be gone before the window ends, and a watchpoint can see the last put.
 */
bool last_put_may_come(struct detect *d, const struct window *w);

/* What to do after a CPU has written to the count of a window before a get. */
enum last_put_seen {
	LAST_PUT_NOT,	   /* Some user is left. */
	LAST_PUT_CAME,	   /* The count is 0. */
	LAST_PUT_TOO_MANY, /* Some user is left, and the window has had as many writes as it may: close it. */
};

/* Count this write, and say what to do. */
enum last_put_seen last_put_written(struct detect *d, struct window *w);

/* Returns whether the count of the window's get is 0, so that a CPU whose stop was not delivered yet must have made it 0. */
bool last_put_is_due(struct detect *d, const struct window *w);

#endif

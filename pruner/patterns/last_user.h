/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds code that destroys an object if a count is 0. The count is then taken for the number of the object's users: a reference
 * count.
 */
#ifndef OUTRIDER_PRUNER_PATTERNS_LAST_USER_H
#define OUTRIDER_PRUNER_PATTERNS_LAST_USER_H

#include "pruner/patterns/view.h"

/*
 * The side `which` reads the datum, a count. Returns the name of a function of the lists `free` and `destroy` that this side
 * calls only if the count is 0. NULL: the kept code shows no such call, or the other side does not change the datum by adding
 * to it or subtracting from it.
 */
const char *last_user_destroys(const struct view *v, unsigned which);

/* Returns whether the side is a LOCKed instruction that may add to a count: one that may get a reference. */
bool last_user_gets(const struct view_side *s);

/*
 * The side `which` decrements the datum, a count, by a LOCKed instruction. Returns the name of a function of the lists `free`
 * and `destroy` that this side calls only if this made the count 0. NULL: the kept code shows no such call, or looks at the
 * count again, or the side is something else.
 */
const char *last_user_put_destroys(const struct view *v, unsigned which);

#endif

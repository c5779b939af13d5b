/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The locks that a side holds at its access: as --locks recorded them, or as the calls in the kept code show. */
#ifndef OUTRIDER_PRUNER_PATTERNS_LOCK_H
#define OUTRIDER_PRUNER_PATTERNS_LOCK_H

#include "pruner/patterns/view.h"

/* Returns whether the side holds a lock at its access. If it does, sets s->lock_why. */
enum lock_held lock_held_at(const struct view *v, struct view_side *s);

/* Returns the name of a lock that the side surely held. NULL: locks were not followed, or the side held none for sure. */
const char *lock_held_name(const struct view_side *s);

/* Returns whether both sides surely held locks, and none of these locks orders the two accesses. */
bool lock_none_common(const struct view *v);

/* Returns whether the code reads the same place again after the access, under a lock that it takes in between. */
bool lock_checked_again(const struct view *v, const struct view_side *s);

/* Returns the name of a function of the list `kind` that the code may call after the access, or NULL. */
const char *lock_called_after(const struct view *v, const struct view_side *s, enum list_kind kind);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which locks a side holds at its access, by the calls in the code that was kept of it. */
#ifndef OUTRIDER_PRUNER_LOCK_H
#define OUTRIDER_PRUNER_LOCK_H

#include "pruner/view.h"

/* What is held at the side's access. */
enum lock_held lock_held_at(const struct view *v, const struct view_side *s);

/* The name of a lock that the side surely held. NULL: locks were not followed, or none was held for sure. */
const char *lock_known(const struct view_side *s);

/* Whether both sides are known to have held locks, and none that keeps the two apart. */
bool lock_none_common(const struct view *v);

/* Whether the access is made again behind it, under a lock that is taken in between. */
bool lock_then_again(const struct view *v, const struct view_side *s);

/* The name of a function of the list `kind` that may be called behind the access, or NULL. */
const char *lock_called_behind(const struct view *v, const struct view_side *s, enum list_kind kind);

#endif

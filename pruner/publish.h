/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a side that stores a pointer does with the objects around it, by the code that was kept of it: which object becomes
 * reachable by the store, which one is taken out, and when that one is freed or used again. RCU's rules are of this kind
 * (Documentation/RCU/whatisRCU.rst and checklist.rst in Linux).
 */
#ifndef OUTRIDER_PRUNER_PUBLISH_H
#define OUTRIDER_PRUNER_PUBLISH_H

#include "pruner/publish_facts.h"

/* Set *out to what the access of a side that stores is about. */
void publish_of(const struct view *v, const struct view_side *s, struct publish *out);

/*
 * Whether the reader goes through the pointer that it read behind a call which ends its read-side critical section, and took no
 * reference on the object before, which a LOCKed instruction on it may be.
 */
bool publish_outlives_section(const struct view *v, const struct view_side *s);

/*
 * Whether the reader is no mere reader: it also stores where it read, or stores elsewhere the pointer that it read, as who
 * changes a list does.
 */
bool publish_by_reader(const struct view_side *s);

#endif

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
 * The name of a function that frees, and that may be called behind the access of a followed side with no grace period of RCU's
 * in between. NULL: the kept code shows none.
 */
const char *publish_frees_at_once(const struct view *v, const struct view_side *s);

/* What becomes of a pointer behind the end of the read-side critical section that it was read in. */
enum publish_outlives {
	PUBLISH_ENDS_WITH_SECTION,
	/* It is returned, stored or given to a function; or the function goes through it, and may have taken a reference. */
	PUBLISH_MAY_OUTLIVE_SECTION,
	/* The function goes through it, and took no reference inside the section. */
	PUBLISH_OUTLIVES_SECTION,
};

/*
 * What becomes of the pointer that the followed reader `side` loads. A LOCKed instruction on the object inside the section
 * takes a reference. Instances in which more than the section kept the object alive do not count. Where there are no others,
 * and a spinlock kept it alive, the unlock is the end of the section, and the pointer is never certain to outlive it.
 */
enum publish_outlives publish_outlives_section(const struct view *v, unsigned side);

/*
 * Whether the reader is no mere reader: it also stores where it read, or stores elsewhere the pointer that it read, as who
 * changes a list does.
 */
bool publish_by_reader(const struct view_side *s);

#endif

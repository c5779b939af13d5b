/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a store of a pointer does to objects, as the kept code shows: which object the store makes reachable, which object it
 * removes, and when the removed object is freed or used again. RCU's rules are about these objects
 * (Documentation/RCU/whatisRCU.rst and checklist.rst in Linux).
 */
#ifndef OUTRIDER_PRUNER_PATTERNS_RCU_PUBLISH_H
#define OUTRIDER_PRUNER_PATTERNS_RCU_PUBLISH_H

#include "pruner/patterns/rcu_publish_facts.h"

/* Set *out to what the store of a side does. All members are false or NULL if the side's code shows no store of a pointer. */
void rcu_publish_of(const struct view *v, const struct view_side *s, struct rcu_publish *out);

/* Whether the code uses a pointer after the end of the RCU read-side critical section in which the code loaded the pointer. */
enum rcu_publish_outlives {
	RCU_PUBLISH_ENDS_WITH_SECTION,
	/* The code returns, stores or passes on the pointer; or it follows the pointer, and may have taken a reference. */
	RCU_PUBLISH_MAY_OUTLIVE_SECTION,
	/* The code follows the pointer, and took no reference inside the section. */
	RCU_PUBLISH_OUTLIVES_SECTION,
};

/*
 * Find out whether the pointer that reader `side` loads is used after the section. The side must be followed. A LOCKed
 * instruction on the object inside the section counts as taking a reference.
 *
 * Only those instances are used in which nothing but a section kept the object alive. If there is no such instance, but a
 * spinlock (preemption off) kept the object alive in some instance, the unlock is taken for the end of the section; the result
 * is then at most RCU_PUBLISH_MAY_OUTLIVE_SECTION.
 */
enum rcu_publish_outlives rcu_publish_outlives_section(const struct view *v, unsigned side);

/* Returns whether the reader also updates: it stores to the place of its load, or stores the loaded pointer to other memory. */
bool rcu_publish_by_reader(const struct view_side *s);

#endif

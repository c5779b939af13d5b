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
	/*
	 * After the end of the section, the code may use the pointer: it stores the pointer, returns it, passes it to a
	 * function, or may follow it. Or the code certainly follows the pointer, but something may protect the object then: a
	 * lock, a reference, or the section itself, if its end was a call that may sleep but need not.
	 */
	RCU_PUBLISH_MAY_OUTLIVE_SECTION,
	/*
	 * After the end of the section, the code follows the pointer, and the code shows nothing that may protect the object
	 * then.
	 */
	RCU_PUBLISH_OUTLIVES_SECTION,
};

/*
 * Find out whether the code of reader `side` uses the pointer that it loads after the end of the section. The side's `followed`
 * (struct view_side) must be set. A LOCKed instruction on the object inside the section counts as taking a reference, and then
 * the result is RCU_PUBLISH_ENDS_WITH_SECTION.
 *
 * The function judges by the instances in which nothing but a section kept the object alive. If there is no such instance,
 * something else may have kept the object alive. In some instance this was a spinlock, which turns preemption off: then the
 * unlock counts as the end of the section. Or in all instances it was the lack of preemption in the kernel: then a call that
 * may sleep counts as the end. In both cases the result is at most RCU_PUBLISH_MAY_OUTLIVE_SECTION.
 */
enum rcu_publish_outlives rcu_publish_outlives_section(const struct view *v, unsigned side);

/*
 * Returns whether the reader also updates: it stores to the memory from which it loads the pointer, or it stores the loaded
 * pointer to other memory than the stack.
 */
bool rcu_publish_by_reader(const struct view_side *s);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether RCU grace periods wait for a side of a race. The recorded context of the side shows this. */
#ifndef OUTRIDER_PRUNER_PATTERNS_RCU_SECTION_H
#define OUTRIDER_PRUNER_PATTERNS_RCU_SECTION_H

#include "pruner/patterns/view.h"

enum rcu_section {
	RCU_SECTION_UNKNOWN,
	/* In every instance, a grace period waits for the side. */
	RCU_SECTION_INSIDE,
	/* In some instance, no grace period waits for the side. */
	RCU_SECTION_OUTSIDE,
};

/*
 * Returns what all kept instances show about side `which`. A kernel without preemption keeps no count of sections. There, a
 * grace period waits for any task until the task calls the scheduler, so the access counts as inside of a section.
 */
enum rcu_section rcu_section_of_side(const struct view *v, unsigned which);

/*
 * Returns whether, in every instance, grace periods wait for the side only because the kernel has no preemption. Grace periods
 * may then stop waiting for the side at any call after the access, because the called function may call the scheduler.
 */
bool rcu_section_until_sleep(const struct view *v, unsigned which);

/*
 * Returns whether the side uses sleepable RCU (SRCU), by its calls or its mark. SRCU has sections of its own, and the guest
 * keeps no count of them that Outrider could read.
 */
bool rcu_section_is_sleepable(const struct view_side *s);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides whether RCU grace periods wait for a side of a race. */
#include "pruner/patterns/rcu_section.h"

#include <string.h>

/*
 * Returns whether a grace period waits for code that runs in the context `c`. Since Linux 5.0 a grace period also waits for
 * code that cannot be preempted.
 */
static enum rcu_section rcu_section_of(const struct view *v, const struct guest_context *c)
{
	if (c->known && (c->irqs_off || c->preempt_off || c->kind != GUEST_TASK))
		return RCU_SECTION_INSIDE;
	if (c->known && !c->rcu_known && v->rules->cannot_preempt)
		return RCU_SECTION_INSIDE;
	if (!c->known || !c->rcu_known)
		return RCU_SECTION_UNKNOWN;
	return c->rcu_nesting ? RCU_SECTION_INSIDE : RCU_SECTION_OUTSIDE;
}

enum rcu_section rcu_section_of_side(const struct view *v, unsigned which)
{
	const struct race *race = v->race;
	enum rcu_section all = rcu_section_of(v, &race->first.sides[which].context);

	for (unsigned i = 0; i < race->kept && all != RCU_SECTION_OUTSIDE; i++) {
		enum rcu_section one = rcu_section_of(v, &race->instances[i].sides[which].context);

		if (one != RCU_SECTION_INSIDE)
			all = one;
	}
	return all;
}

bool rcu_section_until_sleep(const struct view *v, unsigned which)
{
	for (unsigned i = 0; i < v->race->kept; i++) {
		const struct guest_context *c = &v->race->instances[i].sides[which].context;

		if (!c->known || c->kind != GUEST_TASK || c->irqs_off || c->preempt_off || c->rcu_known)
			return false;
	}
	return v->rules->cannot_preempt && v->race->kept;
}

bool rcu_section_is_sleepable(const struct view_side *s)
{
	if (s->marked && !strncmp(s->mark, "srcu_", strlen("srcu_")))
		return true;
	for (unsigned i = 0; i < s->code.count; i++) {
		if (s->code.insns[i].callee && strstr(s->code.insns[i].callee, "srcu"))
			return true;
	}
	return false;
}

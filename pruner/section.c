// SPDX-License-Identifier: GPL-2.0-or-later
#include "pruner/section.h"

#include <string.h>

/* Since Linux 5.0 a grace period waits for all that cannot be preempted, too. */
static enum section section_of(const struct guest_context *c)
{
	if (c->known && (c->irqs_off || c->preempt_off || c->kind != GUEST_TASK))
		return SECTION_INSIDE;
	if (!c->known || !c->rcu_known)
		return SECTION_UNKNOWN;
	return c->rcu_nesting ? SECTION_INSIDE : SECTION_OUTSIDE;
}

enum section section_of_side(const struct race *race, unsigned which)
{
	enum section all = section_of(&race->first.sides[which].context);

	for (unsigned i = 0; i < race->kept && all != SECTION_OUTSIDE; i++) {
		enum section one = section_of(&race->instances[i].sides[which].context);

		if (one != SECTION_INSIDE)
			all = one;
	}
	return all;
}

bool section_is_sleepable(const struct view_side *s)
{
	if (s->marked && !strncmp(s->mark, "srcu_", strlen("srcu_")))
		return true;
	for (unsigned i = 0; i < s->code.count; i++) {
		if (s->code.insns[i].callee && strstr(s->code.insns[i].callee, "srcu"))
			return true;
	}
	return false;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes a verdict by a complaint of the guest's kernel (oops, warning and so on) that came after the race. */
#include "pruner/rules/complained.h"

#include "hv/race/complaint_link.h"
#include "hv/race/race.h"
#include "pruner/rules/raise.h"
#include "pruner/rules/rule.h"

/* The maximum of points that raise a rank: harmful candidates begin at rank 60, and 99 is the highest rank. */
#define COMPLAINED_POINTS 39
/*
 * Points for a complaint that shares only a function with the race: as many as raise.c gives a race on a pointer. That function
 * may have many races, and perhaps none of them led to the complaint.
 */
#define FUNCTION_POINTS 10

/* Returns words that say how the complaint is connected with the race. */
static const char *connection(const struct race_complaint *c)
{
	switch (c->link) {
	case COMPLAINT_SAME_INSTRUCTION:
		return "at the instruction of this race";
	case COMPLAINT_SAME_POINTER:
		return "in a function of this race, on an access by the pointer of this race";
	case COMPLAINT_SAME_OBJECT:
		return "about an address in the object of this race";
	default:
		return c->null_pointer ? "in a function of this race, on an access by a NULL pointer"
				       : "in a function of this race";
	}
}

/*
 * Returns whether the race's pointer may be the NULL pointer that the kernel followed. The values in the instances need not
 * contain the NULL: if the held side is the writer, these values were recorded before the writer's store.
 */
static bool may_be_the_pointer(const struct view *v)
{
	const struct race_complaint *c = &v->race->complaint;
	const struct view_side *s = &v->side[c->side];

	return c->null_pointer && (raise_is_pointer(v) || (s->reads && s->followed && s->read.dereferenced));
}

/* Add the complaint to the evidence of a race that shares no more than a function with it. */
static int same_function(const struct race_complaint *c, struct verdict *out, int points)
{
	verdict_evidence(
		out,
		"; at most %.1f s after the race the guest's kernel complained %s%s%s: %s; only the function connects the two",
		(double)c->after_ns / 1e9 + 0.05, connection(c), c->where[0] ? ", at " : "", c->where, c->text);
	return points + FUNCTION_POINTS;
}

int complained_weigh(const struct view *v, struct verdict *out, int points)
{
	const struct race_complaint *c = &v->race->complaint;
	const struct verdict by_rules = *out;

	if (c->link == COMPLAINT_UNLINKED)
		return points;
	if (c->link == COMPLAINT_SAME_FUNCTION && !may_be_the_pointer(v))
		return same_function(c, out, points);
	*out = (struct verdict){.class = VERDICT_HARMFUL, .rule = RULE_KERNEL_COMPLAINED};
	verdict_evidence(out,
			 "the guest's kernel complained %s%s%s, at most %.1f s after the race: %s; without the complaint the "
			 "race is %s (%s): %s",
			 connection(c), c->where[0] ? ", at " : "", c->where, (double)c->after_ns / 1e9 + 0.05, c->text,
			 verdict_class_word(by_rules.class), rule_name(by_rules.rule), by_rules.evidence);
	return COMPLAINED_POINTS;
}

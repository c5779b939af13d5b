// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule for same-flag updates: both sides set the same flags of a word unless they are set already, and do nothing else that
 * depends on the word. A side that sees the old word sets the flags once more, and a side that sees the new word leaves them.
 * In any order the flags are set in the end. A side that does something only if it was the first to set the flags does not fit.
 */
#include <inttypes.h>

#include "pruner/patterns/flag_set.h"
#include "pruner/rules/rules.h"

/*
 * Returns whether each instance changed no bits but the flags, and only set flags (if set->sets) or only cleared flags (if not
 * set->sets).
 */
static bool observed(const struct race *race, const struct flag_set *set)
{
	uint64_t before, after;

	for (unsigned i = 0; i < race->kept; i++) {
		if (!view_values(&race->instances[i], &before, &after) || (before ^ after) & ~set->flags ||
		    (set->sets ? before & ~after : after & ~before))
			return false;
	}
	return true;
}

bool rule_same_flags(const struct view *v, struct verdict *out)
{
	const struct view_side *a = &v->side[0], *b = &v->side[1];
	struct flag_set of_a, of_b;

	if (!flag_set_of_side(a, &of_a) || !flag_set_of_side(b, &of_b) || of_a.flags != of_b.flags || of_a.sets != of_b.sets ||
	    a->side->size != b->side->size || a->side->gva % X86_PAGE_SIZE != b->side->gva % X86_PAGE_SIZE ||
	    !observed(v->race, &of_a))
		return false;
	out->class = VERDICT_BENIGN;
	out->rule = RULE_SAME_FLAG_UPDATE;
	verdict_evidence(out,
			 "%s and %s only %s the bits 0x%" PRIx64
			 " of %s, unless they are %s already; nothing else in their code "
			 "depends on these bits, so both orders end the same",
			 view_function(a), view_function(b), of_a.sets ? "set" : "clear", of_a.flags, v->datum,
			 of_a.sets ? "set" : "clear");
	return true;
}

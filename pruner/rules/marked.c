// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Marked accesses: what the kernel itself says is meant to race (atomic_*, READ_ONCE(), test_bit(), rcu_dereference(),
 * seqcounts, data_race()). DataCollider's users went through these by hand; here inline chains and sources tell.
 *
 * A mark says that each access is whole, not that two writers agree: unless both are LOCKed, what one stores may undo the
 * other's, and two unlocked list_del_rcu() are a bug.
 */
#include "pruner/rules/rules.h"

bool rule_marked(const struct view *v, struct verdict *out)
{
	const struct view_side *a = &v->side[0], *b = &v->side[1];
	bool may_undo = view_changes(a) && view_changes(b) && !(a->side->locked && b->side->locked);

	if (!a->marked || !b->marked)
		return false;
	out->class = may_undo ? VERDICT_UNCLEAR : VERDICT_SYNCHRONISATION;
	out->rule = "marked-accesses";
	verdict_evidence(out, "both sides are marked accesses: %s in %s and %s in %s", a->mark, view_function(a), b->mark,
			 view_function(b));
	if (may_undo)
		verdict_evidence(out, "; but both change %s, and a store of one may undo the other's", v->datum);
	return true;
}

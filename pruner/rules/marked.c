// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule for marked accesses. By a mark, the kernel's source says that an access may race: atomic_*, READ_ONCE(), test_bit(),
 * rcu_dereference(), seqcounts, data_race(). DataCollider's users excluded such races by hand. Outrider finds the marks in the
 * functions inlined around an access, and in the source.
 *
 * A mark says that each access is made as a whole. It does not order two writers: unless both accesses are LOCKed, one store
 * may undo the other store. Two unlocked list_del_rcu() are a bug. If both sides store a value computed from an old value, an
 * update is surely lost, as with two producers of one ring; then the rule does not fit.
 */
#include "pruner/rules/rules.h"

bool rule_marked(const struct view *v, struct verdict *out)
{
	const struct view_side *a = &v->side[0], *b = &v->side[1];
	bool may_undo = view_changes(a) && view_changes(b) && !(a->side->locked && b->side->locked);

	if (!a->marked || !b->marked || (may_undo && view_updates(a) && view_updates(b)))
		return false;
	out->class = may_undo ? VERDICT_UNCLEAR : VERDICT_SYNCHRONISATION;
	out->rule = RULE_MARKED_ACCESSES;
	verdict_evidence(out, "both sides are marked accesses: %s in %s and %s in %s", a->mark, view_function(a), b->mark,
			 view_function(b));
	if (may_undo)
		verdict_evidence(out, "; but both change %s, and a store of one may undo the other's", v->datum);
	return true;
}

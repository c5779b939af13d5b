// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Marked accesses: what the kernel itself says is meant to race (atomic_*, READ_ONCE(), test_bit(), rcu_dereference(),
 * seqcounts, data_race()). DataCollider's users went through these by hand; here inline chains and sources tell.
 */
#include "pruner/view.h"

bool rule_marked(const struct view *v, struct verdict *out)
{
	if (!v->side[0].marked || !v->side[1].marked)
		return false;
	out->class = VERDICT_SYNCHRONISATION;
	out->rule = "marked-accesses";
	evidence(out, "both sides are marked accesses: %s in %s and %s in %s", v->side[0].mark, view_function(&v->side[0]),
		 v->side[1].mark, view_function(&v->side[1]));
	return true;
}

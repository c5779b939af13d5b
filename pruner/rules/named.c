// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rules that use lists of names, in which each name has a reason and a source. They are: special variables, which race by
 * design (DataCollider, section 3.3); approximate computation; and both values valid (PLDI'07, table 2). Machine code does not
 * show the last two patterns, and code that reads an estimate may still rely on an exact value. So the class of these two is
 * unclear, not benign.
 */
#include "pruner/rules/rules.h"

static bool by_list(const struct view *v, enum list_kind kind, struct verdict *out)
{
	const struct datum_name *name;
	const struct list_entry *e = view_listed(v, kind, &name);

	if (!e)
		return false;
	verdict_evidence(out, "%s: %s", name->path, e->reason);
	if (e->source)
		verdict_evidence(out, " (%s)", e->source);
	return true;
}

bool rule_special(const struct view *v, struct verdict *out)
{
	if (!by_list(v, LIST_SPECIAL, out))
		return false;
	out->class = VERDICT_BENIGN;
	out->rule = RULE_SPECIAL_VARIABLE;
	return true;
}

bool rule_approximate(const struct view *v, struct verdict *out)
{
	if (!by_list(v, LIST_APPROXIMATE, out))
		return false;
	out->class = VERDICT_UNCLEAR;
	out->rule = RULE_APPROXIMATE_COMPUTATION;
	return true;
}

bool rule_both_valid(const struct view *v, struct verdict *out)
{
	if (!by_list(v, LIST_BOTH_VALID, out))
		return false;
	out->class = VERDICT_UNCLEAR;
	out->rule = RULE_BOTH_VALUES_VALID;
	return true;
}

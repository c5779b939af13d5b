// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Approximate computation and both values valid (replay paper, table 2). Machine code does not show these, so lists name them.
 * Code that reads an estimate may still rely on it. So the rule names the race and ranks it lower, and does not fold it.
 */
#include "pruner/rules/rules.h"

static bool by_list(const struct view *v, enum list_kind kind, const char *rule, struct verdict *out)
{
	const struct datum_name *name;
	const struct list_entry *e = view_listed(v, kind, &name);

	if (!e)
		return false;
	out->class = VERDICT_UNCLEAR;
	out->rule = rule;
	view_evidence(out, e, name);
	return true;
}

bool rule_named(const struct view *v, struct verdict *out)
{
	return by_list(v, LIST_APPROXIMATE, "approximate-computation", out) ||
	       by_list(v, LIST_BOTH_VALID, "both-values-valid", out);
}

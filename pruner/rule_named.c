// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Approximate computation and both values valid (replay paper, table 2): machine code cannot tell, so lists do. Whoever reads a
 * rough figure may still rely on it: named and ranked lower, not hidden.
 */
#include "pruner/view.h"

static bool by_list(const struct view *v, enum list_kind kind, const char *rule, struct verdict *out)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct list_entry *e = rules_datum(v->rules, kind, v->race, i);

		if (!e)
			continue;
		out->class = VERDICT_UNCLEAR;
		out->rule = rule;
		evidence(out, "%s: %s%s%s%s", v->side[i].datum->path, e->reason, e->source ? " (" : "",
			 e->source ? e->source : "", e->source ? ")" : "");
		return true;
	}
	return false;
}

bool rule_named(const struct view *v, struct verdict *out)
{
	return by_list(v, LIST_APPROXIMATE, "approximate-computation", out) ||
	       by_list(v, LIST_BOTH_VALID, "both-values-valid", out);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Special variables (DataCollider, section 3.3): racy by design, from a list with reasons and sources. */
#include "pruner/view.h"

bool rule_special(const struct view *v, struct verdict *out)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct list_entry *e = rules_datum(v->rules, LIST_SPECIAL, v->race, i);

		if (!e)
			continue;
		out->class = VERDICT_BENIGN;
		out->rule = "special-variable";
		evidence(out, "%s: %s%s%s%s", v->side[i].datum->path, e->reason, e->source ? " (" : "",
			 e->source ? e->source : "", e->source ? ")" : "");
		return true;
	}
	return false;
}

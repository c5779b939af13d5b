// SPDX-License-Identifier: GPL-2.0-or-later
/* Special variables (DataCollider, section 3.3): a list names data that race by design, with reasons and sources. */
#include "pruner/rules/rules.h"

bool rule_special(const struct view *v, struct verdict *out)
{
	const struct datum_name *name;
	const struct list_entry *e = view_listed(v, LIST_SPECIAL, &name);

	if (!e)
		return false;
	out->class = VERDICT_BENIGN;
	out->rule = "special-variable";
	view_evidence(out, e, name);
	return true;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule for a get that comes after the last put. While a CPU was held before it increments a count, another CPU made the
 * count 0, both by LOCKed instructions (hv/detect/window/last_put.h). This is an error if the count is one of references: the
 * object is destroyed although it has a user. Counts of requests under way go to 0 and up again, rightly. So the code after the
 * put must show that the object is destroyed with its last user.
 */
#include "pruner/patterns/last_user.h"
#include "pruner/rules/rules.h"

bool rule_last_put(const struct view *v, struct verdict *out)
{
	for (unsigned put = 0; put < 2; put++) {
		const struct view_side *get = &v->side[!put];
		const char *callee = last_user_put_destroys(v, put);

		if (!callee || !last_user_gets(get))
			continue;
		out->class = VERDICT_HARMFUL;
		out->rule = RULE_GET_AFTER_LAST_PUT;
		verdict_evidence(
			out,
			"%s gets a reference after the last one was put: directly before it increments %s, %s makes the "
			"count 0, and calls %s() for that",
			view_function(get), v->datum, view_function(&v->side[put]), callee);
		return true;
	}
	return false;
}

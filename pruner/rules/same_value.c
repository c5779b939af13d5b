// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule for same-value writes (PLDI'07, table 2, "redundant writes"). Both sides store the same value. DataCollider's
 * authors removed this rule, because their figure 4 shows a bug of this kind. So here the class is unclear, and the race keeps
 * a high rank.
 */
#include <inttypes.h>

#include "pruner/rules/rules.h"

/*
 * Set *value to the value that the side stores: a constant in its code, or the register that it stored in the first instance.
 * Returns false if the value is not known.
 */
static bool stored(const struct view_side *s, uint64_t *value)
{
	const struct insn_op *op;

	if (!s->followed || !s->writes || s->reads)
		return false;
	*value = s->write.value;
	if (s->write.constant)
		return true;
	op = &s->code.insns[s->at].op;
	if (op->kind != INSN_OP_MOV || op->src.kind != INSN_OPERAND_REG || op->src.high)
		return false;
	*value = s->side->regs.gpr[op->src.reg] & flow_bytes(op->src.size);
	return true;
}

/* Returns whether every instance left the datum unchanged or changed it to `value`. */
static bool observed(const struct race *race, uint64_t value)
{
	uint64_t before, after;

	for (unsigned i = 0; i < race->kept; i++) {
		if (!view_values(&race->instances[i], &before, &after) || (after != before && after != value))
			return false;
	}
	return true;
}

bool rule_same_value(const struct view *v, struct verdict *out)
{
	uint64_t a, b;

	/*
	 * The rule does not fit a side that computes the new value from the old one: two such sides store the same value
	 * exactly when one of their updates is lost.
	 */
	if (view_updates(&v->side[0]) || view_updates(&v->side[1]))
		return false;
	if (!stored(&v->side[0], &a) || !stored(&v->side[1], &b) || a != b || v->side[0].side->gva != v->side[1].side->gva ||
	    v->side[0].side->size != v->side[1].side->size || !observed(v->race, a))
		return false;
	/*
	 * stored() knows the stored values of the first instance only, because only that instance has registers. For the other
	 * instances, observed() has checked that the datum did not change to any other value.
	 */
	out->class = VERDICT_UNCLEAR;
	out->rule = RULE_SAME_VALUE_WRITES;
	verdict_evidence(
		out, "%s and %s both store 0x%" PRIx64 " to %s; that is a bug if other code must run between the two stores",
		view_function(&v->side[0]), view_function(&v->side[1]), a, v->datum);
	return true;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Same-value writes (replay paper, table 2, "redundant writes"): both sides store one value. DataCollider's authors took this
 * rule out again: their figure 4 is a bug of that kind. So it is a name, and the race stays high.
 */
#include <inttypes.h>

#include "pruner/rules/rules.h"

/* What the side stores, from its code or from the register that it stores in the first instance. */
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

/* Whatever was there before, it never became anything but that value. */
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

	if (!stored(&v->side[0], &a) || !stored(&v->side[1], &b) || a != b || v->side[0].side->gva != v->side[1].side->gva ||
	    v->side[0].side->size != v->side[1].side->size || !observed(v->race, a))
		return false;
	/* Registers of one instance say nothing of the others unless those show the value. */
	out->class = VERDICT_UNCLEAR;
	out->rule = "same-value-writes";
	verdict_evidence(out,
			 "%s and %s both store 0x%" PRIx64
			 " to %s; such a pair can still be a bug, where something must be between them",
			 view_function(&v->side[0]), view_function(&v->side[1]), a, v->datum);
	return true;
}

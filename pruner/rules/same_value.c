// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Same-value writes (replay paper, table 2, "redundant writes"). Both sides store one value. DataCollider's authors took this
 * rule out again, because their figure 4 is a bug of that kind. This rule therefore only names the race, which keeps a high
 * rank.
 */
#include <inttypes.h>

#include "pruner/rules/rules.h"

/* The value that the side stores, from its code or from the register that it stores in the first instance. */
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

/* Whether the datum never became another value than this one, whatever it was before. */
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

	/* Two sides that make the new value of the old one store the same value just when one of the updates is lost. */
	if (view_updates(&v->side[0]) || view_updates(&v->side[1]))
		return false;
	if (!stored(&v->side[0], &a) || !stored(&v->side[1], &b) || a != b || v->side[0].side->gva != v->side[1].side->gva ||
	    v->side[0].side->size != v->side[1].side->size || !observed(v->race, a))
		return false;
	/* The registers of one instance say nothing of other instances, unless these show the value. */
	out->class = VERDICT_UNCLEAR;
	out->rule = "same-value-writes";
	verdict_evidence(out,
			 "%s and %s both store 0x%" PRIx64
			 " to %s; such a pair can still be a bug, where something must be between them",
			 view_function(&v->side[0]), view_function(&v->side[1]), a, v->datum);
	return true;
}

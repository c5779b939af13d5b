// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds code that destroys an object if a count is 0. The count is then taken for the number of the object's users: a reference
 * count.
 */
#include "pruner/patterns/last_user.h"

#include "pruner/code/flow/reachability.h"

/* Returns whether the side changes the datum, and only by adding to it or subtracting from it. */
static bool counts(const struct view_side *s)
{
	unsigned deltas = 0;

	if (s->side->kind != RACE_SIDE_CPU || !s->followed)
		return false;
	if (s->writes)
		deltas = s->write.merges && s->write.deltas ? s->write.deltas : FLOW_ELSE;
	if (s->reads && s->read.written_back)
		deltas |= s->read.deltas ? s->read.deltas : FLOW_ELSE;
	return deltas && !(deltas & ~(FLOW_UP | FLOW_DOWN));
}

/*
 * Returns the index of the branch that depends on whether the datum is 0, or -1. If the access is a comparison with 0, the
 * branch follows the access. If the access loads the datum into a register, a test of this register and then the branch follow.
 */
static int branch_on_zero(const struct view_side *s)
{
	const struct insn_op *op = &s->code.insns[s->at].op, *test = op;
	unsigned jump = s->at + 1;

	if (op->kind == INSN_OP_MOV && op->dst.kind == INSN_OPERAND_REG && jump < s->code.count) {
		test = &s->code.insns[jump++].op;
		if (test->dst.kind != INSN_OPERAND_REG || test->dst.reg != op->dst.reg)
			return -1;
	}
	if (jump >= s->code.count ||
	    !((test->kind == INSN_OP_CMP && test->src.kind == INSN_OPERAND_IMM && !test->imm) ||
	      (test->kind == INSN_OP_TEST && test->src.kind == INSN_OPERAND_REG && test->src.reg == test->dst.reg)))
		return -1;
	return s->code.insns[jump].op.kind == INSN_OP_JCC ? (int)jump : -1;
}

const char *last_user_destroys(const struct view *v, unsigned which)
{
	const struct view_side *s = &v->side[which];
	int16_t removed[RACE_CODE_MAX];
	bool if_zero[RACE_CODE_MAX], if_not[RACE_CODE_MAX];
	int jump, condition, next[2];

	if (!view_only_reads(s) || !counts(&v->side[!which]))
		return NULL;
	jump = branch_on_zero(s);
	condition = jump < 0 ? CODE_IF_UNKNOWN : code_condition(&s->code.insns[jump].op);
	if ((condition != CODE_IF_ZERO && condition != CODE_IF_NOT_ZERO) ||
	    code_successors(&s->code, (unsigned)jump, next) != 2)
		return NULL;
	for (unsigned i = 0; i < s->code.count; i++)
		removed[i] = REACH_ALL;
	removed[jump] = (int16_t)next[condition == CODE_IF_ZERO ? 0 : 1];
	reachable(&s->code, jump, removed, NULL, if_zero);
	removed[jump] = (int16_t)next[condition == CODE_IF_ZERO ? 1 : 0];
	reachable(&s->code, jump, removed, NULL, if_not);
	for (unsigned i = 0; i < s->code.count; i++) {
		const char *callee = s->code.insns[i].callee;

		if (callee && if_zero[i] && !if_not[i] &&
		    (rules_function(v->rules, LIST_FREE, callee) || rules_function(v->rules, LIST_DESTROY, callee)))
			return callee;
	}
	return NULL;
}

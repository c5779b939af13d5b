// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds code that destroys an object if a count is 0. The count is then taken for the number of the object's users: a reference
 * count.
 */
#include "pruner/patterns/last_user.h"

#include "pruner/code/flow/reachability.h"
#include "symbols/insn/count.h"

/* The branch after a put comes within this many instructions. Between them, gcc puts copies of registers. */
#define AFTER_PUT_MAX 4u

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

/*
 * Returns whether the instruction may read the side's datum again: it reads a member of the same size and offset, by whichever
 * register.
 */
static bool reads_again(const struct view_side *s, unsigned i)
{
	const struct insn_op *op = &s->code.insns[i].op;
	const struct insn_mem *datum = &s->code.insns[s->at].op.insn.mem[0], *mem = &op->insn.mem[0];

	return s->code.insns[s->at].op.insn.nmem && op->insn.nmem && mem->rw & INSN_READ && mem->size == datum->size &&
	       mem->disp == datum->disp && mem->index == datum->index;
}

/*
 * Returns whether the function frees or destroys something, by its name. `own`: a function that may only drop a reference of
 * another object does not count.
 */
static bool destroys(const struct view *v, const char *function, bool own)
{
	if (own && rules_function(v->rules, LIST_DROP, function))
		return false;
	return rules_function(v->rules, LIST_FREE, function) || rules_function(v->rules, LIST_DESTROY, function);
}

/*
 * Returns the name of a function of the lists `free` and `destroy` that the side calls only if the branch at the index `jump`
 * finds the count 0, without a second look at the count. NULL: there is none.
 */
static const char *destroys_if_zero(const struct view *v, const struct view_side *s, int jump)
{
	int condition = jump < 0 ? CODE_IF_UNKNOWN : code_condition(&s->code.insns[jump].op);
	int16_t removed[RACE_CODE_MAX];
	bool if_zero[RACE_CODE_MAX], if_not[RACE_CODE_MAX];
	const char *found = NULL;
	int next[2];

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

		if (!if_zero[i] || if_not[i])
			continue;
		if (s->side->locked && reads_again(s, i))
			return NULL;
		if (!found && callee && destroys(v, callee, s->side->locked))
			found = callee;
	}
	return found;
}

const char *last_user_destroys(const struct view *v, unsigned which)
{
	const struct view_side *s = &v->side[which];

	if (!view_only_reads(s) || !counts(&v->side[!which]))
		return NULL;
	return destroys_if_zero(v, s, branch_on_zero(s));
}

/* Returns whether the instruction adds a number to its register or memory operand, or subtracts one. *down: subtracts. */
static bool adds_constant(const struct insn_op *op, bool *down)
{
	if ((op->kind != INSN_OP_ADD && op->kind != INSN_OP_SUB) || op->src.kind != INSN_OPERAND_IMM)
		return false;
	*down = (op->kind == INSN_OP_SUB) != ((int64_t)op->imm < 0);
	return true;
}

static bool is_locked(const struct view_side *s)
{
	return s->followed && s->side->locked;
}

/*
 * Returns whether the instruction is the comparison of the count before a put, as of refcount_dec_and_test(), with 1. `put`: an
 * xadd, which leaves that count in its register.
 */
static bool compares_with_one(const struct insn_op *op, const struct insn_op *put)
{
	return insn_may_count_up(&put->insn) && op->dst.kind == INSN_OPERAND_REG && put->writes >> op->dst.reg & 1 &&
	       (op->kind == INSN_OP_CMP || op->kind == INSN_OP_SUB) && op->src.kind == INSN_OPERAND_IMM && op->imm == 1;
}

/* Returns the index of the branch that depends on whether a LOCKed decrement has made the datum 0, or -1. */
static int branch_after_put(const struct view_side *s)
{
	const struct insn_op *put = &s->code.insns[s->at].op, *op;
	bool down, compared = adds_constant(put, &down);

	if (compared && !down)
		return -1;
	for (unsigned i = s->at + 1; i < s->code.count && i <= s->at + AFTER_PUT_MAX; i++) {
		op = &s->code.insns[i].op;
		if (op->kind == INSN_OP_JCC)
			return compared ? (int)i : -1;
		if (op->sets_flags && (compared || !compares_with_one(op, put)))
			return -1;
		compared |= op->sets_flags;
		if (op->kind == INSN_OP_CALL || op->kind == INSN_OP_JUMP || op->kind == INSN_OP_RET)
			return -1;
	}
	return -1;
}

bool last_user_gets(const struct view_side *s)
{
	/* What an xadd adds is in a register. The detector holds a CPU before an xadd only if that is above 0. */
	return is_locked(s) && insn_may_count_up(&s->code.insns[s->at].op.insn);
}

const char *last_user_put_destroys(const struct view *v, unsigned which)
{
	const struct view_side *s = &v->side[which];

	return is_locked(s) ? destroys_if_zero(v, s, branch_after_put(s)) : NULL;
}

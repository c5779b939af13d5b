// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule for user-built synchronisation (PLDI'07, table 2). A loop only reads the datum, until the other side stores the
 * value that ends the loop. Whether the code after the loop sees the other side's earlier stores depends on the order of
 * accesses, so the verdict's class is "unclear".
 */
#include "pruner/rules/rules.h"

/* Maximum number of instructions in the loop, from the access back to the access. A loop that only waits is shorter. */
#define LOOP_MAX 12

static bool idle(const struct insn_op *op)
{
	switch (op->kind) {
	case INSN_OP_MOV:
	case INSN_OP_AND:
		return op->dst.kind == INSN_OPERAND_REG;
	case INSN_OP_TEST:
	case INSN_OP_CMP:
	case INSN_OP_BT:
	case INSN_OP_NOP:
	case INSN_OP_JCC:
	case INSN_OP_JUMP:
		return true;
	default:
		return false;
	}
}

/*
 * Returns whether a path from `i` leads back to the access through at most `left` instructions that only move, mask, compare
 * and jump (idle()).
 */
static bool comes_back(const struct view_side *s, unsigned i, unsigned left)
{
	int next[2];
	unsigned n = left ? code_successors(&s->code, i, next) : 0;

	for (unsigned j = 0; j < n; j++) {
		if (next[j] == CODE_OUTSIDE)
			continue;
		if ((unsigned)next[j] == s->at ||
		    (idle(&s->code.insns[next[j]].op) && comes_back(s, (unsigned)next[j], left - 1)))
			return true;
	}
	return false;
}

bool rule_spin(const struct view *v, struct verdict *out)
{
	unsigned r = v->side[0].writes ? 1 : 0;
	const struct view_side *reader = &v->side[r], *writer = &v->side[!r];

	if (!reader->followed || reader->writes || !writer->writes || !reader->read.tested ||
	    !comes_back(reader, reader->at, LOOP_MAX))
		return false;
	out->class = VERDICT_UNCLEAR;
	out->rule = RULE_USER_BUILT_SYNCHRONISATION;
	verdict_evidence(out, "%s reads %s in a loop that does nothing else, until %s stores to it", view_function(reader),
			 v->datum, view_function(writer));
	return true;
}

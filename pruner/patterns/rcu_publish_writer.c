// SPDX-License-Identifier: GPL-2.0-or-later
#include "pruner/patterns/rcu_publish_writer.h"

#include <string.h>

const char *writer_callee(const struct writer *w, unsigned i, enum list_kind kind)
{
	const struct code_insn *insn = &w->s->code.insns[i];

	if ((insn->op.kind != INSN_OP_CALL && insn->op.kind != INSN_OP_JUMP) || !insn->callee ||
	    !rules_function(w->v->rules, kind, insn->callee))
		return NULL;
	return insn->callee;
}
void writer_reachable(const struct writer *w, unsigned from, int barrier, bool stop_at_grace, bool out[RACE_CODE_MAX])
{
	const struct code *code = &w->s->code;
	unsigned queue[RACE_CODE_MAX], len = 1;
	int next[2];

	memset(out, 0, RACE_CODE_MAX * sizeof(*out));
	queue[0] = from;
	while (len) {
		unsigned i = queue[--len], n;

		if (i != from && ((int)i == barrier || (stop_at_grace && writer_callee(w, i, LIST_GRACE_WAIT))))
			continue;
		n = code_successors(code, i, next);
		for (unsigned j = 0; j < n; j++) {
			if (next[j] == CODE_OUTSIDE || out[next[j]])
				continue;
			out[next[j]] = true;
			queue[len++] = (unsigned)next[j];
		}
	}
}
bool writer_reaches_store(const struct writer *w, unsigned i)
{
	bool after[RACE_CODE_MAX];

	writer_reachable(w, i, -1, false, after);
	return after[w->at];
}
bool writer_loaded(const struct writer *w, const struct flow_pointer *p, struct flow_pointer *from)
{
	int i = flow_definition(w->s->flow, p);
	const struct insn_op *op = i < 0 ? NULL : &w->s->code.insns[i].op;

	if (!op || p->disp || op->kind != INSN_OP_MOV || op->src.kind != INSN_OPERAND_MEM || op->src.size != 8)
		return false;
	*from = flow_address(w->s->flow, (unsigned)i);
	return from->root != FLOW_POINTER_UNKNOWN;
}
bool writer_is_plain_store(const struct writer *w, unsigned i)
{
	const struct insn_op *op = &w->s->code.insns[i].op;

	return op->kind == INSN_OP_MOV && op->dst.kind == INSN_OPERAND_MEM && op->dst.size == 8;
}

bool writer_unlinks(const struct writer *w, unsigned i, struct flow_pointer *link)
{
	const struct flow_pointer what = flow_stored(w->s->flow, i), where = flow_address(w->s->flow, i);

	return writer_loaded(w, &what, link) && writer_is_object(link) && !writer_same_object(link, &where);
}

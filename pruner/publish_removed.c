// SPDX-License-Identifier: GPL-2.0-or-later
/* What a store of a pointer takes out, and what stays reachable through what it stores. */
#include "pruner/publish_writer.h"

static void add_removed(struct writer *w, const struct flow_pointer *p)
{
	if (writer_is_object(p) && w->removed_count < WRITER_REMOVED_MAX)
		w->removed[w->removed_count++] = *p;
}

/* Some store on the way puts `old` into the object that the store makes reachable. */
static bool is_kept(const struct writer *w, const struct flow_pointer *old)
{
	for (unsigned i = 0; i < w->s->code.count; i++) {
		struct flow_pointer where, what;

		if (i == w->at || !writer_is_plain_store(w, i))
			continue;
		where = flow_address(w->s->flow, i);
		what = flow_stored(w->s->flow, i);
		if (writer_same_object(&where, &w->what) && writer_same_address(&what, old) && writer_leads_to_store(w, i))
			return true;
	}
	return false;
}

/* The one instruction that goes on to instruction `i`, or -1 when there is none, or more than one. */
static int only_way_to(const struct code *code, unsigned i)
{
	int next[2], way = -1;

	for (unsigned j = 0; j < code->count; j++) {
		unsigned n = code_next(code, j, next);

		if (!n || (next[0] != (int)i && (n < 2 || next[1] != (int)i)))
			continue;
		if (way >= 0)
			return -1;
		way = (int)j;
	}
	return way;
}

/* Whether `jump` goes on to instruction `i` only when the result before it was 0: je that is taken, or jne that is not. */
static bool goes_on_if_zero(const struct writer *w, unsigned jump, unsigned i)
{
	return code_condition(&w->s->code.insns[jump].op) == (i != jump + 1 ? CODE_IF_ZERO : CODE_IF_NOT_ZERO);
}

/* The writer has tested the pointer, and stores only where it was NULL. */
static bool is_null(const struct writer *w, const struct flow_pointer *p)
{
	const struct code *code = &w->s->code;
	unsigned i = w->at;

	for (unsigned steps = 0; steps < code->count; steps++) {
		int way = only_way_to(code, i);
		const struct insn_op *op = way > 0 ? &code->insns[way].op : NULL, *test;
		struct flow_pointer tested;

		if (!op)
			return false;
		test = &code->insns[way - 1].op;
		if (op->kind == INSN_OP_JCC && only_way_to(code, (unsigned)way) == way - 1 &&
		    goes_on_if_zero(w, (unsigned)way, i) && test->kind == INSN_OP_TEST && test->dst.kind == INSN_OPERAND_REG &&
		    test->src.kind == INSN_OPERAND_REG && test->dst.reg == test->src.reg && test->dst.size == 8) {
			tested = flow_register(w->s->flow, (unsigned)way - 1, (unsigned)test->dst.reg);
			if (writer_same_address(&tested, p))
				return true;
		}
		i = (unsigned)way;
	}
	return false;
}

/*
 * What the writer read where it then stores is taken out, unless the new object leads to it, or it is what is stored. Of two
 * reads of one place the new object leads to both.
 */
static void find_replaced(struct writer *w, struct publish *out)
{
	struct flow_pointer p = flow_exchanged(w->s->flow, w->at), old[X86_GPRS], from;
	unsigned count = 0;

	add_removed(w, &p);
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		p = flow_register(w->s->flow, w->at, reg);
		if (!writer_loaded(w, &p, &from) || !writer_same_address(&from, &w->where) || writer_same_object(&p, &w->what))
			continue;
		if (is_null(w, &p)) {
			out->over_null = true;
			continue;
		}
		old[count++] = p;
		out->keeps |= is_kept(w, &p);
	}
	for (unsigned i = 0; i < count && !out->keeps; i++)
		add_removed(w, &old[i]);
}

static void find_unlinked(struct writer *w)
{
	w->link = (struct flow_pointer){.root = FLOW_POINTER_UNKNOWN};
	if (writer_unlinks(w, w->at, &w->link))
		add_removed(w, &w->link);
}

/*
 * An entry that takes another one's place leads to where that one led to: what its link is given was loaded from the link of
 * the one that is taken out.
 */
static void find_bypassed(struct writer *w)
{
	const struct code *code = &w->s->code;
	struct flow_pointer link;

	for (unsigned i = 0; i < code->count && writer_is_object(&w->what); i++) {
		const struct flow_pointer where = flow_address(w->s->flow, i), what = flow_stored(w->s->flow, i);

		if (i == w->at || !writer_is_plain_store(w, i) || !writer_same_address(&where, &w->what) ||
		    !writer_loaded(w, &what, &link) || writer_same_address(&link, &w->where) || !writer_leads_to_store(w, i))
			continue;
		add_removed(w, &link);
		if (w->link.root == FLOW_POINTER_UNKNOWN)
			w->link = link;
	}
}

/*
 * Added at a list's end, an entry leads to the list's head, and its predecessor is what the head leads back to. What was in the
 * predecessor's link, the head, is then not loaded.
 */
static bool is_added_at_end(const struct writer *w)
{
	const struct code *code = &w->s->code;
	const struct flow_pointer predecessor = {.root = w->where.root};
	struct flow_pointer back;

	if (!writer_loaded(w, &predecessor, &back))
		return false;
	for (unsigned i = 0; i < code->count; i++) {
		struct flow_pointer where, what;

		if (!writer_is_plain_store(w, i))
			continue;
		where = flow_address(w->s->flow, i);
		what = flow_stored(w->s->flow, i);
		if (writer_same_object(&where, &w->what) && what.root != FLOW_POINTER_UNKNOWN && what.root == back.root &&
		    back.disp - what.disp == 8 && writer_same_address(&where, &w->what))
			return true;
	}
	return false;
}

void writer_find_removed(struct writer *w, struct publish *out)
{
	find_replaced(w, out);
	find_unlinked(w);
	find_bypassed(w);
	out->keeps |= is_added_at_end(w);
	out->removes = w->removed_count != 0;
}

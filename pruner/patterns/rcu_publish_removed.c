// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds which objects a store of a pointer removes, and which stay reachable through the stored object. */
#include "pruner/patterns/rcu_publish_writer.h"

static void add_removed(struct writer *w, const struct flow_pointer *p)
{
	if (writer_is_object(p) && w->removed_count < WRITER_REMOVED_MAX)
		w->removed[w->removed_count++] = *p;
}

/* Returns whether the writer, before its store, stores the pointer `old` into the object that becomes reachable. */
static bool is_kept(const struct writer *w, const struct flow_pointer *old)
{
	for (unsigned i = 0; i < w->s->code.count; i++) {
		struct flow_pointer where, what;

		if (i == w->at || !writer_is_plain_store(w, i))
			continue;
		where = flow_address(w->s->flow, i);
		what = flow_stored(w->s->flow, i);
		if (writer_same_object(&where, &w->what) && writer_same_address(&what, old) && writer_reaches_store(w, i))
			return true;
	}
	return false;
}

/* Returns the only predecessor of instruction `i`, or -1 if the instruction has no or several predecessors. */
static int only_predecessor(const struct code *code, unsigned i)
{
	int next[2], predecessor = -1;

	for (unsigned j = 0; j < code->count; j++) {
		unsigned n = code_successors(code, j, next);

		if (!n || (next[0] != (int)i && (n < 2 || next[1] != (int)i)))
			continue;
		if (predecessor >= 0)
			return -1;
		predecessor = (int)j;
	}
	return predecessor;
}

/*
 * Returns whether `jump` leads to instruction `i` only if the tested value is 0: by a je that is taken, or a jne that is not
 * taken.
 */
static bool jumps_if_zero(const struct writer *w, unsigned jump, unsigned i)
{
	return code_condition(&w->s->code.insns[jump].op) == (i != jump + 1 ? CODE_IF_ZERO : CODE_IF_NOT_ZERO);
}

/* Returns whether the writer stores only after a test found that the pointer is NULL. */
static bool is_null(const struct writer *w, const struct flow_pointer *p)
{
	const struct code *code = &w->s->code;
	unsigned i = w->at;

	for (unsigned steps = 0; steps < code->count; steps++) {
		int predecessor = only_predecessor(code, i);
		const struct insn_op *op = predecessor > 0 ? &code->insns[predecessor].op : NULL, *test;
		struct flow_pointer tested;

		if (!op)
			return false;
		test = &code->insns[predecessor - 1].op;
		if (op->kind == INSN_OP_JCC && only_predecessor(code, (unsigned)predecessor) == predecessor - 1 &&
		    jumps_if_zero(w, (unsigned)predecessor, i) && test->kind == INSN_OP_TEST &&
		    test->dst.kind == INSN_OPERAND_REG && test->src.kind == INSN_OPERAND_REG &&
		    test->dst.reg == test->src.reg && test->dst.size == 8) {
			tested = flow_register(w->s->flow, (unsigned)predecessor - 1, (unsigned)test->dst.reg);
			if (writer_same_address(&tested, p))
				return true;
		}
		i = (unsigned)predecessor;
	}
	return false;
}

/*
 * Add the object of the old pointer to the removed objects. The writer loaded the old pointer from the store's address before
 * the store, or an exchange returned it. The object does not count as removed if the new object points to it, or if the writer
 * stores the old pointer back. The writer may have loaded from the store's address several times. If the new object points to
 * the object of one of these loaded pointers, none of their objects counts as removed.
 */
static void find_replaced(struct writer *w, struct rcu_publish *out)
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
		out->links_old |= is_kept(w, &p);
	}
	for (unsigned i = 0; i < count && !out->links_old; i++)
		add_removed(w, &old[i]);
}

static void find_unlinked(struct writer *w)
{
	w->link = (struct flow_pointer){.root = FLOW_POINTER_UNKNOWN};
	if (writer_unlinks(w, w->at, &w->link))
		add_removed(w, &w->link);
}

/*
 * Add to the removed objects an old list entry that a new entry replaces: the writer copies the old entry's link to the new
 * entry's link, and so removes the old entry from the list.
 */
static void find_bypassed(struct writer *w)
{
	const struct code *code = &w->s->code;
	struct flow_pointer link;

	for (unsigned i = 0; i < code->count && writer_is_object(&w->what); i++) {
		const struct flow_pointer where = flow_address(w->s->flow, i), what = flow_stored(w->s->flow, i);

		if (i == w->at || !writer_is_plain_store(w, i) || !writer_same_address(&where, &w->what) ||
		    !writer_loaded(w, &what, &link) || writer_same_address(&link, &w->where) || !writer_reaches_store(w, i))
			continue;
		add_removed(w, &link);
		if (w->link.root == FLOW_POINTER_UNKNOWN)
			w->link = link;
	}
}

/*
 * Returns whether the store adds a new entry at the end of a list. The code has loaded the last entry's address from the `prev`
 * of the list's head, stores the address of the head into the new entry's `next`, and stores the new entry's address into the
 * last entry's `next`. The old value of that `next` is the address of the head. The code has this address already, so it does
 * not load the old pointer.
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

bool writer_prepares(const struct writer *w)
{
	for (unsigned i = 0; i < w->s->code.count; i++) {
		const struct insn *insn = &w->s->code.insns[i].op.insn;
		struct flow_pointer where;

		if (i == w->at || !insn->nmem || !(insn->mem[0].rw & INSN_WRITE))
			continue;
		where = flow_address(w->s->flow, i);
		if (writer_same_object(&where, &w->what) && writer_reaches_store(w, i))
			return true;
	}
	return false;
}

/* Returns whether the instructions access elements of one table. */
static bool is_one_table(const struct writer *w, unsigned i, unsigned j)
{
	const struct insn_mem *a = &w->s->code.insns[i].op.insn.mem[0], *b = &w->s->code.insns[j].op.insn.mem[0];
	struct flow_pointer of_a, of_b;

	if (a->index < 0 || b->index < 0 || a->scale != b->scale || a->disp != b->disp || a->seg != b->seg)
		return false;
	if (a->base < 0 || b->base < 0)
		return a->base == b->base;
	of_a = flow_register(w->s->flow, i, (unsigned)a->base);
	of_b = flow_register(w->s->flow, j, (unsigned)b->base);
	return writer_same_address(&of_a, &of_b);
}

bool writer_links_table(const struct writer *w)
{
	for (unsigned i = 0; i < w->s->code.count; i++) {
		struct flow_pointer where, what;
		int loaded;

		if (i == w->at || !writer_is_plain_store(w, i) || !writer_reaches_store(w, i))
			continue;
		where = flow_address(w->s->flow, i);
		what = flow_stored(w->s->flow, i);
		loaded = flow_definition(w->s->flow, &what);
		if (writer_same_object(&where, &w->what) && loaded >= 0 && w->s->code.insns[loaded].op.insn.nmem == 1 &&
		    is_one_table(w, (unsigned)loaded, w->at))
			return true;
	}
	return false;
}

bool writer_leaves_link(const struct writer *w)
{
	bool back = false;

	for (unsigned i = 0; i < w->s->code.count && writer_is_object(&w->link); i++) {
		struct flow_pointer where;

		if (i == w->at || !w->before_grace[i] || !writer_is_plain_store(w, i))
			continue;
		where = flow_address(w->s->flow, i);
		if (writer_same_address(&where, &w->link))
			return false;
		/* In struct list_head and struct hlist_node the back link follows the link to the next entry. */
		back |= writer_same_object(&where, &w->link) && where.disp - w->link.disp == 8;
	}
	return back;
}

void writer_find_removed(struct writer *w, struct rcu_publish *out)
{
	find_replaced(w, out);
	find_unlinked(w);
	find_bypassed(w);
	out->links_old |= is_added_at_end(w);
	out->removes = w->removed_count != 0;
}

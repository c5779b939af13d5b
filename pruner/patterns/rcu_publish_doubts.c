// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds what a function does wrong after its store of a pointer: it passes on a removed object before a grace period, or
 * completes the new object only after the store.
 */
#include "pruner/patterns/rcu_publish_writer.h"

/*
 * Functions that may get a removed object before a grace period: they keep no pointer to the object and do not free it, or they
 * free it only after a grace period.
 */
static const enum list_kind harmless[] = {
	LIST_GRACE_FREE, LIST_GRACE_WAIT, LIST_LOCK, LIST_UNLOCK, LIST_SECTION_BEGIN, LIST_SECTION_END, LIST_SHOW, LIST_CHECK,
};

static bool is_harmless(const struct writer *w, unsigned call)
{
	for (unsigned i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
		if (writer_callee(w, call, harmless[i]))
			return true;
	}
	return false;
}

/*
 * Returns whether a call passes on a removed object as its first or second argument. The other argument registers are not
 * checked, because they often hold old values.
 */
static bool passes_on(const struct writer *w, unsigned i)
{
	const struct code_insn *insn = &w->s->code.insns[i];
	struct flow_pointer first = flow_register(w->s->flow, i, X86_RDI), second = flow_register(w->s->flow, i, X86_RSI);

	if ((insn->op.kind != INSN_OP_CALL && (insn->op.kind != INSN_OP_JUMP || !insn->callee)) || is_harmless(w, i))
		return false;
	return writer_is_removed(w, &first, i) || writer_is_removed(w, &second, i);
}

/* Returns whether the instruction stores a pointer to a removed object, other than on the function's stack. */
static bool stores_pointer(const struct writer *w, unsigned i)
{
	const struct flow_pointer what = flow_stored(w->s->flow, i);

	return i != w->at && w->s->code.insns[i].op.insn.nmem && w->s->code.insns[i].op.insn.mem[0].base != X86_RSP &&
	       writer_is_removed(w, &what, i);
}

bool writer_escapes(const struct writer *w)
{
	for (unsigned i = 0; i < w->s->code.count; i++) {
		if (w->before_grace[i] && (passes_on(w, i) || stores_pointer(w, i)))
			return true;
	}
	return false;
}

/* Returns whether the function stores to the address before the store that makes the object reachable. */
static bool was_stored_before(const struct writer *w, const struct flow_pointer *where)
{
	for (unsigned i = 0; i < w->s->code.count; i++) {
		const struct insn *insn = &w->s->code.insns[i].op.insn;
		struct flow_pointer other;

		if (!insn->nmem || !(insn->mem[0].rw & INSN_WRITE) || !writer_reaches_store(w, i))
			continue;
		other = flow_address(w->s->flow, i);
		if (writer_same_address(&other, where))
			return true;
	}
	return false;
}

bool writer_completes_late(const struct writer *w)
{
	for (unsigned i = 0; i < w->s->code.count; i++) {
		const struct insn *insn = &w->s->code.insns[i].op.insn;
		struct flow_pointer where;

		if (!w->before_grace[i] || !insn->nmem || !(insn->mem[0].rw & INSN_WRITE) || insn->flags & INSN_LOCKED)
			continue;
		where = flow_address(w->s->flow, i);
		if (writer_same_object(&where, &w->what) && writer_lasts_until(w, &where, i) && !was_stored_before(w, &where))
			return true;
	}
	return false;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Objects are told from one another by where the pointers to them came from (flow_pointer). Where that is not seen, nothing is
 * claimed.
 */
#include "pruner/publish.h"

#include <stdlib.h>
#include <string.h>

#define REMOVED_MAX 4

/* Bytes that a variable's parts may be apart. What lies farther from a fixed address is taken to be another object. */
#define FIXED_OBJECT 256

struct writer {
	const struct view *v;
	const struct view_side *s;
	/* The store. */
	unsigned at;
	/* The address that is stored to, and what is stored. */
	struct flow_pointer where, what;
	/* Pointers to what the store takes out. */
	struct flow_pointer removed[REMOVED_MAX];
	unsigned removed_count;
	/* With one that is taken out of a list: the address of its link to the next one. Its root is unknown otherwise. */
	struct flow_pointer link;
	/* Instructions that the store may lead to, and those that it may lead to with no grace period in between. */
	bool behind[RACE_CODE_MAX], at_once[RACE_CODE_MAX];
};

static bool is_object(const struct flow_pointer *p)
{
	return p->root != FLOW_POINTER_UNKNOWN && p->root != FLOW_POINTER_FIXED;
}

static bool same_object(const struct flow_pointer *a, const struct flow_pointer *b)
{
	return is_object(a) && a->root == b->root;
}

/* The same, and also for parts of one variable. For what counts against the writer. */
static bool maybe_same_object(const struct flow_pointer *a, const struct flow_pointer *b)
{
	return same_object(a, b) ||
	       (a->root == FLOW_POINTER_FIXED && b->root == FLOW_POINTER_FIXED && llabs(a->disp - b->disp) < FIXED_OBJECT);
}

static bool same_address(const struct flow_pointer *a, const struct flow_pointer *b)
{
	return a->root != FLOW_POINTER_UNKNOWN && a->root == b->root && a->disp == b->disp;
}

static const char *callee_in(const struct writer *w, unsigned i, enum list_kind kind)
{
	const struct code_insn *insn = &w->s->code.insns[i];

	if ((insn->op.kind != INSN_OP_CALL && insn->op.kind != INSN_OP_JUMP) || !insn->callee ||
	    !rules_function(w->v->rules, kind, insn->callee))
		return NULL;
	return insn->callee;
}

/*
 * Set out[] for all instructions behind `from`. What is only behind instruction `barrier` is left out, and with `stop_at_grace`
 * also what is only behind a call that waits for a grace period. -1: there is no barrier.
 */
static void spread(const struct writer *w, unsigned from, int barrier, bool stop_at_grace, bool out[RACE_CODE_MAX])
{
	const struct code *code = &w->s->code;
	unsigned queue[RACE_CODE_MAX], len = 1;
	int next[2];

	memset(out, 0, RACE_CODE_MAX * sizeof(*out));
	queue[0] = from;
	while (len) {
		unsigned i = queue[--len], n;

		if (i != from && ((int)i == barrier || (stop_at_grace && callee_in(w, i, LIST_GRACE_WAIT))))
			continue;
		n = code_next(code, i, next);
		for (unsigned j = 0; j < n; j++) {
			if (next[j] == CODE_OUTSIDE || out[next[j]])
				continue;
			out[next[j]] = true;
			queue[len++] = (unsigned)next[j];
		}
	}
}

/* Whether the pointer is what a plain load put into a register. *from becomes the address that was loaded from. */
static bool was_loaded(const struct writer *w, const struct flow_pointer *p, struct flow_pointer *from)
{
	int i = flow_source(w->s->flow, p);
	const struct insn_op *op = i < 0 ? NULL : &w->s->code.insns[i].op;

	if (!op || p->disp || op->kind != INSN_OP_MOV || op->src.kind != INSN_OPERAND_MEM || op->src.size != 8)
		return false;
	*from = flow_address(w->s->flow, (unsigned)i);
	return from->root != FLOW_POINTER_UNKNOWN;
}

static bool is_plain_store(const struct code_insn *insn)
{
	return insn->op.kind == INSN_OP_MOV && insn->op.dst.kind == INSN_OPERAND_MEM && insn->op.dst.size == 8;
}

static void add_removed(struct writer *w, const struct flow_pointer *p)
{
	if (is_object(p) && w->removed_count < REMOVED_MAX)
		w->removed[w->removed_count++] = *p;
}

/* Whether instruction `i` may lead to the store. */
static bool leads_to_store(const struct writer *w, unsigned i)
{
	bool behind[RACE_CODE_MAX];

	spread(w, i, -1, false, behind);
	return behind[w->at];
}

/* Some store on the way puts `old` into the object that the store makes reachable. */
static bool is_kept(const struct writer *w, const struct flow_pointer *old)
{
	for (unsigned i = 0; i < w->s->code.count; i++) {
		struct flow_pointer where, what;

		if (i == w->at || !is_plain_store(&w->s->code.insns[i]))
			continue;
		where = flow_address(w->s->flow, i);
		what = flow_stored(w->s->flow, i);
		if (same_object(&where, &w->what) && same_address(&what, old) && leads_to_store(w, i))
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
	const struct insn *insn = &w->s->code.insns[jump].op.insn;
	const uint8_t *bytes = w->s->side->code + (insn->addr - w->s->code.base);
	uint8_t condition = insn->len > 2 && bytes[0] == 0x0f ? bytes[1] & 0x0f : bytes[0] & 0x0f;
	bool taken = i != jump + 1;

	return insn->len >= 2 && condition == (taken ? 0x4 : 0x5);
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
			if (same_address(&tested, p))
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
		if (!was_loaded(w, &p, &from) || !same_address(&from, &w->where) || same_object(&p, &w->what))
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

/*
 * Whether instruction `i` stores what an object's link leads to, as taking the object out of a list does. *link becomes that
 * link's address.
 */
static bool unlinks(const struct writer *w, unsigned i, struct flow_pointer *link)
{
	const struct flow_pointer what = flow_stored(w->s->flow, i), where = flow_address(w->s->flow, i);

	return was_loaded(w, &what, link) && is_object(link) && !same_object(link, &where);
}

static void find_unlinked(struct writer *w)
{
	w->link = (struct flow_pointer){.root = FLOW_POINTER_UNKNOWN};
	if (unlinks(w, w->at, &w->link))
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

	for (unsigned i = 0; i < code->count && is_object(&w->what); i++) {
		const struct flow_pointer where = flow_address(w->s->flow, i), what = flow_stored(w->s->flow, i);

		if (i == w->at || !is_plain_store(&code->insns[i]) || !same_address(&where, &w->what) ||
		    !was_loaded(w, &what, &link) || same_address(&link, &w->where) || !leads_to_store(w, i))
			continue;
		add_removed(w, &link);
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

	if (!was_loaded(w, &predecessor, &back))
		return false;
	for (unsigned i = 0; i < code->count; i++) {
		struct flow_pointer where, what;

		if (!is_plain_store(&code->insns[i]))
			continue;
		where = flow_address(w->s->flow, i);
		what = flow_stored(w->s->flow, i);
		if (same_object(&where, &w->what) && what.root != FLOW_POINTER_UNKNOWN && what.root == back.root &&
		    back.disp - what.disp == 8 && same_address(&where, &w->what))
			return true;
	}
	return false;
}

/* The argument of a call that frees: which object it frees. */
static struct flow_pointer freed_object(const struct writer *w, unsigned call)
{
	const char *callee = w->s->code.insns[call].callee;
	struct flow_pointer first = flow_register(w->s->flow, call, X86_RDI);
	bool after_cache = strncmp(callee, "kmem_cache_free", strlen("kmem_cache_free")) == 0;
	/* kfree_rcu(pointer), with no head in the object, has NULL as its first argument. */
	bool after_null = first.root == FLOW_POINTER_FIXED && callee_in(w, call, LIST_GRACE_FREE);

	return after_cache || after_null ? flow_register(w->s->flow, call, X86_RSI) : first;
}

/*
 * Whether the pointer at instruction `i` behind the store is still the value that it was at the store. An instruction that
 * makes a value makes another one when a loop comes back to it.
 */
static bool lasts_until(const struct writer *w, const struct flow_pointer *p, unsigned i)
{
	bool reached[RACE_CODE_MAX];

	spread(w, w->at, flow_begin(w->s->flow, p), false, reached);
	return reached[i];
}

static bool is_removed(const struct writer *w, const struct flow_pointer *object, unsigned i)
{
	for (unsigned j = 0; j < w->removed_count; j++) {
		if (same_object(&w->removed[j], object))
			return lasts_until(w, object, i);
	}
	return false;
}

/* An object that the function has just made, and that nobody else knows of, may be freed in any way. */
static bool is_private(const struct writer *w, const struct flow_pointer *object, unsigned i)
{
	int source = flow_source(w->s->flow, object);

	return source >= 0 && callee_in(w, (unsigned)source, LIST_ALLOC) &&
	       (!same_object(object, &w->what) || !lasts_until(w, object, i));
}

static void find_frees(const struct writer *w, unsigned i, struct publish *out)
{
	const struct flow_pointer object = freed_object(w, i);
	bool later = callee_in(w, i, LIST_GRACE_FREE), of_removed = is_removed(w, &object, i);

	out->grace_of_removed |= of_removed && (later || !w->at_once[i]);
	if (later || !w->at_once[i] || is_private(w, &object, i))
		return;
	if (!out->freed_of_shared)
		out->freed = w->s->code.insns[i].callee;
	out->freed_of_shared |= of_removed || (same_object(&object, &w->what) && lasts_until(w, &object, i));
}

static void find_calls(const struct writer *w, struct publish *out)
{
	for (unsigned i = 0; i < w->s->code.count; i++) {
		if (!w->behind[i])
			continue;
		if (!out->grace_of_removed && (callee_in(w, i, LIST_GRACE_FREE) || callee_in(w, i, LIST_GRACE_WAIT)))
			out->grace = w->s->code.insns[i].callee;
		if (callee_in(w, i, LIST_FREE))
			find_frees(w, i, out);
	}
}

/* What was taken out has its link changed behind the store. */
static bool is_relinked(const struct writer *w)
{
	for (unsigned i = 0; i < w->s->code.count; i++) {
		struct flow_pointer where;

		if (!w->at_once[i] || i == w->at || !is_plain_store(&w->s->code.insns[i]))
			continue;
		where = flow_address(w->s->flow, i);
		if (w->link.root != FLOW_POINTER_UNKNOWN && same_address(&where, &w->link))
			return true;
	}
	return false;
}

/* What the store makes reachable was taken out before, with no grace period in between. */
static bool is_put_back(const struct writer *w)
{
	bool behind[RACE_CODE_MAX];
	struct flow_pointer link;

	for (unsigned i = 0; i < w->s->code.count; i++) {
		if (i == w->at || !is_plain_store(&w->s->code.insns[i]) || !unlinks(w, i, &link) ||
		    !maybe_same_object(&link, &w->what))
			continue;
		spread(w, i, -1, true, behind);
		if (behind[w->at])
			return true;
	}
	return false;
}

/* The store is into an object that a store behind it makes reachable. A link back from what is stored makes nothing reachable.
 */
static bool is_before_publication(const struct writer *w)
{
	for (unsigned i = 0; i < w->s->code.count; i++) {
		struct flow_pointer where, what;

		if (!w->at_once[i] || i == w->at || !is_plain_store(&w->s->code.insns[i]))
			continue;
		where = flow_address(w->s->flow, i);
		what = flow_stored(w->s->flow, i);
		if (where.root != FLOW_POINTER_UNKNOWN && same_object(&what, &w->where) && where.root != w->where.root &&
		    where.root != w->what.root)
			return true;
	}
	return false;
}

/* Whether the function frees at once, on any way, what it has not just made. */
static bool frees_elsewhere(const struct writer *w)
{
	bool at_once[RACE_CODE_MAX];

	spread(w, 0, -1, true, at_once);
	for (unsigned i = 0; i < w->s->code.count; i++) {
		struct flow_pointer object;

		if (!at_once[i] || !callee_in(w, i, LIST_FREE) || callee_in(w, i, LIST_GRACE_FREE))
			continue;
		object = freed_object(w, i);
		if (!is_private(w, &object, i))
			return true;
	}
	return false;
}

static bool waits_somewhere(const struct writer *w)
{
	for (unsigned i = 0; i < w->s->code.count; i++) {
		if (callee_in(w, i, LIST_GRACE_FREE) || callee_in(w, i, LIST_GRACE_WAIT))
			return true;
	}
	return false;
}

static const char *maker_of(const struct writer *w)
{
	int i = flow_source(w->s->flow, &w->what);

	return i < 0 ? NULL : callee_in(w, (unsigned)i, LIST_ALLOC);
}

void publish_of(const struct view *v, const struct view_side *s, struct publish *out)
{
	struct writer w = {.v = v, .s = s, .at = s->at};
	struct flow_pointer exchanged;

	*out = (struct publish){0};
	if (!s->followed || !s->writes)
		return;
	exchanged = flow_exchanged(s->flow, s->at);
	if (!is_plain_store(&s->code.insns[s->at]) && exchanged.root == FLOW_POINTER_UNKNOWN)
		return;
	out->known = s->code.closed;
	w.where = flow_address(s->flow, s->at);
	w.what = flow_stored(s->flow, s->at);
	spread(&w, s->at, -1, false, w.behind);
	spread(&w, s->at, -1, true, w.at_once);
	find_replaced(&w, out);
	find_unlinked(&w);
	find_bypassed(&w);
	out->maker = maker_of(&w);
	out->keeps |= is_added_at_end(&w);
	out->removes = w.removed_count != 0;
	find_calls(&w, out);
	out->waits_somewhere = waits_somewhere(&w);
	out->frees_elsewhere = frees_elsewhere(&w);
	out->reused = is_relinked(&w) || is_put_back(&w) || is_before_publication(&w);
}

static bool goes_through(const struct view_side *s, unsigned i, const struct flow_pointer *read)
{
	const struct insn *insn = &s->code.insns[i].op.insn;
	struct flow_pointer where;

	if (!insn->nmem)
		return false;
	where = flow_address(s->flow, i);
	return same_object(&where, read);
}

bool publish_outlives_section(const struct view *v, const struct view_side *s)
{
	const struct writer w = {.v = v, .s = s, .at = s->at};
	const struct flow_pointer read = flow_loaded(s->flow, s->at);
	bool behind[RACE_CODE_MAX], later[RACE_CODE_MAX], outlives = false;

	if (!is_object(&read))
		return false;
	spread(&w, s->at, -1, false, behind);
	for (unsigned i = 0; i < s->code.count; i++) {
		if (behind[i] && s->code.insns[i].op.insn.flags & INSN_LOCKED && goes_through(s, i, &read))
			return false;
	}
	for (unsigned i = 0; i < s->code.count; i++) {
		if (!behind[i] || i == s->at || !callee_in(&w, i, LIST_SECTION_END))
			continue;
		spread(&w, i, (int)s->at, false, later);
		for (unsigned j = 0; j < s->code.count; j++)
			outlives |= later[j] && j != s->at && goes_through(s, j, &read);
	}
	return outlives;
}

bool publish_by_reader(const struct view_side *s)
{
	for (unsigned i = 0; i < s->code.count; i++) {
		const struct insn *insn = &s->code.insns[i].op.insn;
		struct flow_pointer what;

		if (i == s->at || !insn->nmem || !(insn->mem[0].rw & INSN_WRITE))
			continue;
		if (flow_same_place(s->flow, s->at, i))
			return true;
		what = flow_stored(s->flow, i);
		if (insn->mem[0].base != X86_RSP && what.root > 0 && flow_source(s->flow, &what) == (int)s->at)
			return true;
	}
	return false;
}

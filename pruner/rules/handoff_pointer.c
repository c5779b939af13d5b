// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rules for objects that a pointer hands over without RCU, and for a pointer that fails to hand an object over
 * (Documentation/memory-barriers.txt in Linux, acquire and release). The giver stores the pointer after all its accesses to the
 * object. The taker follows the pointer only after a branch on the pointer. The box is the memory that holds the pointer. An
 * object counts as handed over in two cases. In the first, the box is filled again and again: the giver stores the pointer only
 * if the box is NULL, and the taker stores NULL. In the second, the giver hands the object over for good: every instance shows
 * a store over NULL, the taker only reads, and neither side frees the object.
 *
 * The class is unclear unless both sides are marked: machine code does not show whether the source has acquire and release.
 */
#include <string.h>

#include "pruner/code/flow/reachability.h"
#include "pruner/patterns/handoff.h"
#include "pruner/rules/rules.h"

#define POINTER_SIZE 8 /* bytes */

struct handoff {
	const struct view *v;
	uint64_t box;
	struct handoff_side giver, taker;
	/* Branches on a value loaded from the box. */
	bool giver_branches[RACE_CODE_MAX], taker_branches[RACE_CODE_MAX];
	bool emptied; /* The taker stores NULL to the box. */
	/* The giver's store of the pointer, and the taker's first access to the object, as indices of instructions. */
	unsigned filled, taken;
};

static bool is_box(const struct handoff *g, const struct handoff_side *end, unsigned i, uint8_t rw)
{
	return handoff_accesses(end, i, g->box, POINTER_SIZE, rw);
}

static bool is_object(const struct flow_pointer *p)
{
	return p->root != FLOW_POINTER_UNKNOWN && p->root != FLOW_POINTER_FIXED;
}

/* Mark the accesses to the object that `p` points into. Returns whether one of them is of the kind `rw`. */
static bool mark_object(struct handoff_side *end, const struct flow_pointer *p, uint8_t rw)
{
	bool found = false;

	for (unsigned i = 0; is_object(p) && i < end->side->code.count; i++) {
		const struct insn *insn = &end->side->code.insns[i].op.insn;
		struct flow_pointer where = flow_address(end->side->flow, i);

		if (!insn->nmem || where.root != p->root)
			continue;
		end->is_data[i] = true;
		found |= insn->mem[0].rw & rw;
	}
	return found;
}

static bool stores_null(const struct view_side *s, unsigned i)
{
	struct flow_write write;

	flow_write(s->flow, i, &write);
	return write.constant && !write.value;
}

/*
 * Returns whether a store of the giver to the box hands an object over: the giver writes to the object, but neither accesses it
 * after the store, nor passes it on, nor frees it. If the taker empties the box, the store must follow a branch that found the
 * box to be NULL.
 */
static bool check_store(struct handoff *g, unsigned store)
{
	const struct view_side *s = g->giver.side;
	struct flow_pointer object = flow_stored(s->flow, store);
	bool after[RACE_CODE_MAX];

	if (!mark_object(&g->giver, &object, INSN_WRITE) ||
	    (g->emptied && !handoff_guarded_by_zero(&g->giver, g->giver_branches, true, store)))
		return false;
	reachable(&s->code, (int)store, NULL, NULL, after);
	for (unsigned i = 0; i < s->code.count; i++) {
		const char *callee = s->code.insns[i].callee;

		if (after[i] && (g->giver.is_data[i] || flow_is_argument(s->flow, i, &object) ||
				 (callee && rules_function(g->v->rules, LIST_FREE, callee))))
			return false;
	}
	g->filled = store;
	return true;
}

static bool gives(struct handoff *g)
{
	const struct code *code = &g->giver.side->code;
	bool gives = false;

	for (unsigned i = 0; i < code->count; i++) {
		g->giver.is_word[i] = is_box(g, &g->giver, i, INSN_READ | INSN_WRITE);
		if (!is_box(g, &g->giver, i, INSN_WRITE))
			continue;
		if (!check_store(g, i))
			return false;
		gives = true;
	}
	return gives;
}

/* Returns whether the taker follows the pointer, and only after a branch that found the box not to be NULL. */
static bool takes(struct handoff *g)
{
	const struct view_side *s = g->taker.side;
	bool takes = false;

	for (unsigned i = 0; i < s->code.count; i++) {
		struct flow_pointer object;

		if (!g->taker.is_word[i] || !is_box(g, &g->taker, i, INSN_READ))
			continue;
		object = flow_loaded(s->flow, i);
		takes |= mark_object(&g->taker, &object, g->emptied ? INSN_READ | INSN_WRITE : INSN_READ);
	}
	for (unsigned i = s->code.count; i-- > 0 && takes;) {
		if (!g->taker.is_data[i])
			continue;
		if (!handoff_guarded_by_zero(&g->taker, g->taker_branches, false, i) ||
		    (!g->emptied && s->code.insns[i].op.insn.mem[0].rw & INSN_WRITE))
			return false;
		g->taken = i;
	}
	return takes;
}

/*
 * Returns whether the taker stores nothing but NULL to the box, and only after a branch that found the box not to be NULL. Sets
 * g->emptied if there is such a store.
 */
static bool empties(struct handoff *g)
{
	const struct view_side *s = g->taker.side;

	for (unsigned i = 0; i < s->code.count; i++) {
		g->taker.is_word[i] = is_box(g, &g->taker, i, INSN_READ | INSN_WRITE);
		if (!is_box(g, &g->taker, i, INSN_WRITE))
			continue;
		if (!stores_null(s, i) || !handoff_guarded_by_zero(&g->taker, g->taker_branches, false, i))
			return false;
		g->emptied = true;
	}
	return true;
}

static bool calls_free(const struct view *v, const struct view_side *s)
{
	for (unsigned i = 0; i < s->code.count; i++) {
		if (s->code.insns[i].callee && rules_function(v->rules, LIST_FREE, s->code.insns[i].callee))
			return true;
	}
	return false;
}

static bool was_null(const struct race *race)
{
	uint64_t before, after;

	for (unsigned i = 0; i < race->kept; i++) {
		if (!view_values(&race->instances[i], &before, &after) || before)
			return false;
	}
	return race->kept != 0;
}

/*
 * Returns whether the object in a box that is never emptied was handed over for good: each store replaced NULL, neither side
 * frees anything, and the taker was in no RCU section.
 */
static bool is_permanent(const struct handoff *g)
{
	const struct guest_context *c = &g->taker.side->side->context;

	return c->known && c->rcu_known && !c->rcu_nesting && was_null(g->v->race) && !calls_free(g->v, g->giver.side) &&
	       !calls_free(g->v, g->taker.side);
}

static bool look(const struct view *v, const struct view_side *giver, const struct view_side *taker, struct handoff *g)
{
	struct flow_dependencies on_giver = {0}, on_taker = {0};

	*g = (struct handoff){.v = v, .box = giver->side->gva};
	handoff_resolve(giver, &g->giver);
	handoff_resolve(taker, &g->taker);
	if (g->giver.gva[giver->at] != g->box || g->taker.gva[taker->at] != g->box)
		return false;
	handoff_dependencies(&g->giver, g->box, POINTER_SIZE, &on_giver);
	handoff_dependencies(&g->taker, g->box, POINTER_SIZE, &on_taker);
	memcpy(g->giver_branches, on_giver.control, sizeof(g->giver_branches));
	memcpy(g->taker_branches, on_taker.control, sizeof(g->taker_branches));
	return empties(g);
}

static bool fits(const struct view *v, const struct view_side *giver, const struct view_side *taker, struct handoff *g)
{
	return look(v, giver, taker, g) && gives(g) && takes(g) && (g->emptied || is_permanent(g)) &&
	       !handoff_two_stores(v, g->box) && !handoff_broken(v, &g->giver, &g->taker);
}

/* Returns whether the code hands the object over by a box, but the report has a race on the object. */
static bool is_broken(const struct view *v, const struct view_side *giver, const struct view_side *taker, struct handoff *g)
{
	if (!look(v, giver, taker, g) || !g->emptied || !takes(g))
		return false;
	for (unsigned i = 0; i < giver->code.count; i++) {
		struct flow_pointer object = flow_stored(giver->flow, i);

		if (is_box(g, &g->giver, i, INSN_WRITE))
			mark_object(&g->giver, &object, INSN_READ | INSN_WRITE);
	}
	return handoff_data_raced(v, &g->giver, &g->taker);
}

static bool by_rcu(const struct view_side *s)
{
	return s->marked && strstr(s->mark, "rcu") != NULL;
}

static bool is_candidate(const struct view_side *reader, const struct view_side *writer)
{
	return reader->followed && writer->followed && !reader->writes && writer->writes && !writer->reads &&
	       reader->side->size == POINTER_SIZE && writer->side->size == POINTER_SIZE && reader->code.closed &&
	       writer->code.closed && !by_rcu(reader) && !by_rcu(writer);
}

static void describe(const struct handoff *g, struct verdict *out)
{
	const char *giver = view_function(g->giver.side), *taker = view_function(g->taker.side);

	verdict_evidence(out, "%s stores the pointer %s (+0x%llx) after all its accesses to the object, and %s follows it ",
			 giver, g->v->datum, (unsigned long long)view_offset(g->giver.side, g->filled), taker);
	verdict_evidence(out, "only after a branch on it (+0x%llx)", (unsigned long long)view_offset(g->taker.side, g->taken));
	if (g->emptied)
		verdict_evidence(out, "; %s stores only where it found NULL, and %s stores NULL", giver, taker);
	else
		verdict_evidence(out, "; the pointer was NULL before, and neither frees the object");
}

bool rule_handoff_pointer(const struct view *v, struct verdict *out)
{
	unsigned r = v->side[0].writes ? 1 : 0;
	const struct view_side *reader = &v->side[r], *writer = &v->side[!r];
	struct handoff g;

	/*
	 * The giver is the writer if the race is on its store of the pointer, and the reader if the race is on the taker's
	 * store of NULL.
	 */
	if (!is_candidate(reader, writer) || (!fits(v, writer, reader, &g) && !fits(v, reader, writer, &g)))
		return false;
	out->class = reader->marked && writer->marked ? VERDICT_SYNCHRONISATION : VERDICT_UNCLEAR;
	out->rule = RULE_HANDED_OVER;
	describe(&g, out);
	if (reader->marked && writer->marked)
		verdict_evidence(out, "; both are marked: %s and %s", reader->mark, writer->mark);
	else
		verdict_evidence(out, "; only the source shows whether these are a release and an acquire");
	return true;
}

bool rule_broken_handoff_pointer(const struct view *v, struct verdict *out)
{
	unsigned r = v->side[0].writes ? 1 : 0;
	const struct view_side *reader = &v->side[r], *writer = &v->side[!r];
	struct handoff g;

	if (!is_candidate(reader, writer) || (!is_broken(v, writer, reader, &g) && !is_broken(v, reader, writer, &g)))
		return false;
	out->class = VERDICT_HARMFUL;
	out->rule = RULE_NOT_HANDED_OVER;
	verdict_evidence(
		out,
		"the handoff by %s fails: %s sets it to NULL and then accesses the object (+0x%llx), and a race on that "
		"object was seen",
		v->datum, view_function(g.taker.side), (unsigned long long)view_offset(g.taker.side, g.taken));
	return true;
}

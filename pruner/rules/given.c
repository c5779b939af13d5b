// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Objects that are given away by a pointer, without RCU (Linux, Documentation/memory-barriers.txt, acquire and release). The
 * giver stores the pointer behind all its accesses to the object. The taker goes through the pointer only behind a branch by
 * it. Either the pointer is a box: the giver fills it only when it is empty, and the taker empties it. Or the pointer was NULL
 * before each store that was seen, the taker only reads, and neither frees the object.
 *
 * The class is unclear unless both sides are marked: machine code does not show whether acquire and release were meant.
 */
#include <string.h>

#include "pruner/flow/ways.h"
#include "pruner/rules/rules.h"
#include "pruner/turns.h"

#define POINTER_SIZE 8 /* bytes */

struct given {
	const struct view *v;
	uint64_t box;
	struct turns_end giver, taker;
	bool giver_asks[RACE_CODE_MAX], taker_asks[RACE_CODE_MAX]; /* Jumps by what was in the box. */
	bool emptied;						   /* The taker empties the box. */
	unsigned filled, taken; /* The store of the pointer, and the taker's first access to the object. */
};

static bool is_box(const struct given *g, const struct turns_end *end, unsigned i, uint8_t rw)
{
	return turns_accesses(end, i, g->box, POINTER_SIZE, rw);
}

static bool is_object(const struct flow_pointer *p)
{
	return p->root != FLOW_POINTER_UNKNOWN && p->root != FLOW_POINTER_FIXED;
}

/* Mark the accesses to the object that `p` points into. Returns whether there is one of the kind `rw`. */
static bool mark_object(struct turns_end *end, const struct flow_pointer *p, uint8_t rw)
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

/* What the giver puts into the box, and what it does behind that. */
static bool gives_rightly(struct given *g, unsigned store)
{
	const struct view_side *s = g->giver.side;
	struct flow_pointer object = flow_stored(s->flow, store);
	bool behind[RACE_CODE_MAX];

	if (!mark_object(&g->giver, &object, INSN_WRITE) ||
	    (g->emptied && !turns_guarded_by_zero(&g->giver, g->giver_asks, true, store)))
		return false;
	ways(&s->code, (int)store, NULL, NULL, behind);
	for (unsigned i = 0; i < s->code.count; i++) {
		const char *callee = s->code.insns[i].callee;

		if (behind[i] && (g->giver.is_data[i] || flow_is_argument(s->flow, i, &object) ||
				  (callee && rules_function(g->v->rules, LIST_FREE, callee))))
			return false;
	}
	g->filled = store;
	return true;
}

static bool gives(struct given *g)
{
	const struct code *code = &g->giver.side->code;
	bool gives = false;

	for (unsigned i = 0; i < code->count; i++) {
		g->giver.is_word[i] = is_box(g, &g->giver, i, INSN_READ | INSN_WRITE);
		if (!is_box(g, &g->giver, i, INSN_WRITE))
			continue;
		if (!gives_rightly(g, i))
			return false;
		gives = true;
	}
	return gives;
}

/* Whether the taker goes through the pointer, and only where the box was not empty. */
static bool takes(struct given *g)
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
		if (!turns_guarded_by_zero(&g->taker, g->taker_asks, false, i) ||
		    (!g->emptied && s->code.insns[i].op.insn.mem[0].rw & INSN_WRITE))
			return false;
		g->taken = i;
	}
	return takes;
}

/* Whether the taker stores nothing but NULL to the box, and that only where the box was not empty. */
static bool empties(struct given *g)
{
	const struct view_side *s = g->taker.side;

	for (unsigned i = 0; i < s->code.count; i++) {
		g->taker.is_word[i] = is_box(g, &g->taker, i, INSN_READ | INSN_WRITE);
		if (!is_box(g, &g->taker, i, INSN_WRITE))
			continue;
		if (!stores_null(s, i) || !turns_guarded_by_zero(&g->taker, g->taker_asks, false, i))
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

/* Whether a pointer that nobody takes back was given for good, outside the reach of RCU. */
static bool is_for_good(const struct given *g)
{
	const struct guest_context *c = &g->taker.side->side->context;

	return c->known && c->rcu_known && !c->rcu_nesting && was_null(g->v->race) && !calls_free(g->v, g->giver.side) &&
	       !calls_free(g->v, g->taker.side);
}

static bool look(const struct view *v, const struct view_side *giver, const struct view_side *taker, struct given *g)
{
	struct flow_influence by_giver = {0}, by_taker = {0};

	*g = (struct given){.v = v, .box = giver->side->gva};
	turns_look(giver, &g->giver);
	turns_look(taker, &g->taker);
	if (g->giver.gva[giver->at] != g->box || g->taker.gva[taker->at] != g->box)
		return false;
	turns_influence(&g->giver, g->box, POINTER_SIZE, &by_giver);
	turns_influence(&g->taker, g->box, POINTER_SIZE, &by_taker);
	memcpy(g->giver_asks, by_giver.decides, sizeof(g->giver_asks));
	memcpy(g->taker_asks, by_taker.decides, sizeof(g->taker_asks));
	return empties(g);
}

static bool fits(const struct view *v, const struct view_side *giver, const struct view_side *taker, struct given *g)
{
	return look(v, giver, taker, g) && gives(g) && takes(g) && (g->emptied || is_for_good(g)) &&
	       !turns_two_stores(v, g->box) && !turns_broken(v, &g->giver, &g->taker);
}

/* Whether the box has one owner at a time for what is in it, and there was a race in it all the same. */
static bool is_broken(const struct view *v, const struct view_side *giver, const struct view_side *taker, struct given *g)
{
	if (!look(v, giver, taker, g) || !g->emptied || !takes(g))
		return false;
	for (unsigned i = 0; i < giver->code.count; i++) {
		struct flow_pointer object = flow_stored(giver->flow, i);

		if (is_box(g, &g->giver, i, INSN_WRITE))
			mark_object(&g->giver, &object, INSN_READ | INSN_WRITE);
	}
	return turns_data_raced(v, &g->giver, &g->taker);
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

static void say(const struct given *g, struct verdict *out)
{
	const char *giver = view_function(g->giver.side), *taker = view_function(g->taker.side);

	verdict_evidence(out,
			 "%s stores the pointer %s (+0x%llx) behind all its accesses to the object, and %s goes through it ",
			 giver, g->v->datum, (unsigned long long)view_offset(g->giver.side, g->filled), taker);
	verdict_evidence(out, "only behind a branch by it (+0x%llx)", (unsigned long long)view_offset(g->taker.side, g->taken));
	if (g->emptied)
		verdict_evidence(out, "; %s stores only where it found NULL, and %s stores NULL", giver, taker);
	else
		verdict_evidence(out, "; there was NULL before, and neither frees the object");
}

bool rule_given(const struct view *v, struct verdict *out)
{
	unsigned r = v->side[0].writes ? 1 : 0;
	const struct view_side *reader = &v->side[r], *writer = &v->side[!r];
	struct given g;

	/* The race may be of the giver's store, or of the taker's. */
	if (!is_candidate(reader, writer) || (!fits(v, writer, reader, &g) && !fits(v, reader, writer, &g)))
		return false;
	out->class = reader->marked && writer->marked ? VERDICT_SYNCHRONISATION : VERDICT_UNCLEAR;
	out->rule = "handed-over";
	say(&g, out);
	if (reader->marked && writer->marked)
		verdict_evidence(out, "; both are marked: %s and %s", reader->mark, writer->mark);
	else
		verdict_evidence(out, "; whether this is by acquire and release, only the source shows");
	return true;
}

bool rule_broken_given(const struct view *v, struct verdict *out)
{
	unsigned r = v->side[0].writes ? 1 : 0;
	const struct view_side *reader = &v->side[r], *writer = &v->side[!r];
	struct given g;

	if (!is_candidate(reader, writer) || (!is_broken(v, writer, reader, &g) && !is_broken(v, reader, writer, &g)))
		return false;
	out->class = VERDICT_HARMFUL;
	out->rule = "not-handed-over";
	verdict_evidence(out, "%s empties %s and goes through what was there (+0x%llx), which was seen racing all the same",
			 view_function(g.taker.side), v->datum, (unsigned long long)view_offset(g.taker.side, g.taken));
	return true;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statistics counters (DataCollider, section 3.3). Both sides only add to the datum, and over the instances the datum only
 * grew. A reference count falls again.
 */
#include <inttypes.h>

#include "pruner/rules/rules.h"

#define INSTANCES_ENOUGH 3

/* Returns what a side does to the datum, as enum flow_step bits. 0 means that the side only looks. */
static unsigned steps(const struct view_side *s)
{
	unsigned steps = 0;

	if (!s->side->known || !s->followed)
		return FLOW_ELSE;
	if (s->writes)
		steps = s->write.merges && s->write.steps ? s->write.steps : FLOW_ELSE;
	if (s->reads && s->read.written_back)
		steps |= s->read.steps ? s->read.steps : FLOW_ELSE;
	return steps;
}

/* What the side makes of what it loaded, apart from storing it again: an index, an id, a decision. */
struct uses {
	bool taken, tested;
};

static void add_uses(const struct flow_read *read, struct uses *out)
{
	out->taken |= read->dereferenced || read->escapes;
	out->tested |= read->tested;
}

/*
 * The uses by a side that counts, with the loads that its stores are made of. A side that only looks may use the value in any
 * way.
 */
static void uses_of(const struct view_side *s, struct uses *out)
{
	struct flow_read read;

	if (!steps(s))
		return;
	if (s->reads)
		add_uses(&s->read, out);
	for (unsigned i = 0; i < s->code.count; i++) {
		const struct insn_op *op = &s->code.insns[i].op;

		if (i == s->at || op->kind != INSN_OP_MOV || op->src.kind != INSN_OPERAND_MEM ||
		    !flow_same_place(s->flow, s->at, i))
			continue;
		flow_read(s->flow, i, &read);
		add_uses(&read, out);
	}
}

/* How the datum changed over the instances at one address of one run, in the order of time. */
struct growth {
	unsigned instances, grew; /* `grew` counts the instances whose value was above that of the one before. */
	uint64_t from, to;
	bool fell;
};

static void look(const struct race *race, const struct race_instance *where, struct growth *out)
{
	uint64_t before, after;

	*out = (struct growth){0};
	for (unsigned i = 0; i < race->kept; i++) {
		const struct race_instance *instance = &race->instances[i];

		if (instance->run != where->run || instance->gva != where->gva || !view_values(instance, &before, &after))
			continue;
		if (out->instances == 0)
			out->from = before;
		else
			out->fell |= before < out->to;
		out->grew += after > (out->instances ? out->to : before);
		out->fell |= after < before;
		out->to = after;
		out->instances++;
	}
}

/* Returns the growth at the address where most growth was seen. `fell` says whether the datum fell at any address. */
static struct growth growth_of(const struct race *race)
{
	struct growth best = {0}, g;
	bool fell = false;

	for (unsigned i = 0; i < race->kept; i++) {
		look(race, &race->instances[i], &g);
		fell |= g.fell;
		if (g.grew > best.grew || (g.grew == best.grew && g.instances > best.instances))
			best = g;
	}
	best.fell = fell;
	return best;
}

bool rule_counter(const struct view *v, struct verdict *out)
{
	unsigned a = steps(&v->side[0]), b = steps(&v->side[1]);
	struct growth g = growth_of(v->race);
	struct uses uses = {0};
	bool by_name, enough;

	if (((a | b) & ~(FLOW_UP | FLOW_SUM)) || !(a | b) || g.fell)
		return false;
	uses_of(&v->side[0], &uses);
	uses_of(&v->side[1], &uses);
	if (uses.taken || view_listed(v, LIST_REFCOUNT, NULL))
		return false;
	by_name = view_listed(v, LIST_COUNTER, NULL) != NULL;
	/* A datum that is put back to 0 now and then may be seen at 0 twice and above 0 once. */
	enough = g.grew >= INSTANCES_ENOUGH && !uses.tested;
	out->class = by_name || enough ? VERDICT_BENIGN : VERDICT_UNCLEAR;
	out->rule = "statistics-counter";
	verdict_evidence(out, "all that %s and %s do to %s is %s%s; ", view_function(&v->side[0]), view_function(&v->side[1]),
			 v->datum, (a | b) & FLOW_SUM ? "adding" : "counting up", a && b ? "" : " and looking");
	if (g.to > g.from)
		verdict_evidence(out, "over %u instance%s it grew from 0x%" PRIx64 " to 0x%" PRIx64 " and never fell",
				 g.instances, g.instances == 1 ? "" : "s", g.from, g.to);
	else
		verdict_evidence(out, "it was not seen to grow in %u instance%s", g.instances, g.instances == 1 ? "" : "s");
	if (by_name)
		verdict_evidence(out, "; its name is that of a statistic");
	else if (uses.tested)
		verdict_evidence(out, "; but whoever counts tests it, as a limit or a reference count is");
	else if (!enough)
		verdict_evidence(out, "; too few to tell it from a reference count");
	return true;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule for statistics counters (DataCollider, section 3.3). Both sides only add to the datum, and over all instances the
 * datum only grew. A reference count looks alike, but its value also falls, or a side destroys the object if the count is 0.
 */
#include <inttypes.h>

#include "pruner/patterns/last_user.h"
#include "pruner/rules/rules.h"

#define INSTANCES_ENOUGH 3

/* Returns how a side changes the datum, as enum flow_delta bits, or 0 if the side only reads. */
static unsigned deltas(const struct view_side *s)
{
	unsigned deltas = 0;

	if (s->side->kind != RACE_SIDE_CPU || !s->followed)
		return FLOW_ELSE;
	if (s->writes)
		deltas = s->write.merges && s->write.deltas ? s->write.deltas : FLOW_ELSE;
	if (s->reads && s->read.written_back)
		deltas |= s->read.deltas ? s->read.deltas : FLOW_ELSE;
	return deltas;
}

/*
 * What a side does with the loaded value besides storing it back. `taken`: uses it as an address, or passes it to other code.
 * `tested`: branches on it.
 */
struct uses {
	bool taken, tested;
};

static void add_uses(const struct flow_read *read, struct uses *out)
{
	out->taken |= read->dereferenced || read->escapes;
	out->tested |= read->tested;
}

/*
 * Add to *out how a side that adds to the datum uses the datum's value. All loads of the datum in the side's code count,
 * because the stored sum may depend on each of them. A side that only reads adds nothing to *out: it may use the value in any
 * way.
 */
static void uses_of(const struct view_side *s, struct uses *out)
{
	struct flow_read read;

	if (!deltas(s))
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

/* How the datum changed at one address in one run, over the instances in time order. */
struct growth {
	/* `grew` counts the instances with a greater value than the instance before. */
	unsigned instances, grew;
	uint64_t from, to;
	bool fell;
};

static void measure(const struct race *race, const struct race_instance *where, struct growth *out)
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

/*
 * Returns the growth at the address at which the most instances show growth. In the result, `fell` is set if the datum fell at
 * any address, not only at this one.
 */
static struct growth growth_of(const struct race *race)
{
	struct growth best = {0}, g;
	bool fell = false;

	for (unsigned i = 0; i < race->kept; i++) {
		measure(race, &race->instances[i], &g);
		fell |= g.fell;
		if (g.grew > best.grew || (g.grew == best.grew && g.instances > best.instances))
			best = g;
	}
	best.fell = fell;
	return best;
}

static void describe_sides(const struct view *v, unsigned a, unsigned b, struct verdict *out)
{
	const char *first = view_function(&v->side[0]), *second = view_function(&v->side[1]);
	bool sum = (a | b) & FLOW_SUM;

	if (a && b)
		verdict_evidence(out, "%s and %s only %s %s%s; ", first, second, sum ? "add to" : "count", v->datum,
				 sum ? "" : " up");
	else
		verdict_evidence(out, "%s only %s %s%s, %s only reads it; ", a ? first : second, sum ? "adds to" : "counts",
				 v->datum, sum ? "" : " up", a ? second : first);
}

bool rule_counter(const struct view *v, struct verdict *out)
{
	unsigned a = deltas(&v->side[0]), b = deltas(&v->side[1]);
	struct growth g = growth_of(v->race);
	struct uses uses = {0};
	bool by_name, enough;

	if (((a | b) & ~(FLOW_UP | FLOW_SUM)) || !(a | b) || g.fell)
		return false;
	uses_of(&v->side[0], &uses);
	uses_of(&v->side[1], &uses);
	if (uses.taken || view_listed(v, LIST_REFCOUNT, NULL) || last_user_destroys(v, 0) || last_user_destroys(v, 1))
		return false;
	by_name = view_listed(v, LIST_COUNTER, NULL) != NULL;
	/*
	 * Code may reset the datum to 0 between instances. Two instances can then look like growth by chance, so at least
	 * INSTANCES_ENOUGH instances must show growth.
	 */
	enough = g.grew >= INSTANCES_ENOUGH && !uses.tested;
	out->class = by_name || enough ? VERDICT_BENIGN : VERDICT_UNCLEAR;
	out->rule = RULE_STATISTICS_COUNTER;
	describe_sides(v, a, b, out);
	if (g.to > g.from)
		verdict_evidence(out, "over %u instance%s it grew from 0x%" PRIx64 " to 0x%" PRIx64 " and never fell",
				 g.instances, g.instances == 1 ? "" : "s", g.from, g.to);
	else
		verdict_evidence(out, "it was not seen to grow in %u instance%s", g.instances, g.instances == 1 ? "" : "s");
	if (by_name)
		verdict_evidence(out, "; its name is that of a statistic");
	else if (uses.tested)
		verdict_evidence(out, "; but a side that counts also tests it, as with a limit or a reference count");
	else if (!enough)
		verdict_evidence(out, "; these are too few to tell it from a reference count");
	return true;
}

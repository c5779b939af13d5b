// SPDX-License-Identifier: GPL-2.0-or-later
/* What the reader of a pointer makes of it, and whether that outlives the read-side critical section. */
#include "pruner/publish.h"
#include "pruner/publish_writer.h"

#include <string.h>

#define NESTING_MAX 7 /* More sections than that count as so many. */

struct walk {
	const struct writer w; /* The reader, for what the files behind publish_of() find in a function's code. */
	struct flow_pointer read;
	/* In how many sections ways may lead from the load to each instruction. There is a bit for each number. */
	uint8_t sections[RACE_CODE_MAX];
};

/* The fewest sections that alone kept an object alive in any instance. 0: something else did in each instance. */
static unsigned sections_in(const struct race *race, unsigned side)
{
	unsigned fewest = 0;

	for (unsigned i = 0; i < race->kept; i++) {
		const struct guest_context *c = &race->instances[i].sides[side].context;

		if (c->irqs_off || c->preempt_off || c->kind != GUEST_TASK || !c->rcu_known || !c->rcu_nesting)
			continue;
		if (!fewest || c->rcu_nesting < fewest)
			fewest = c->rcu_nesting;
	}
	return fewest < NESTING_MAX ? fewest : NESTING_MAX;
}

static uint8_t sections_behind(const struct walk *walk, unsigned i)
{
	uint8_t sections = walk->sections[i];

	if (writer_callee(&walk->w, i, LIST_SECTION_END))
		return (uint8_t)(sections >> 1 | (sections & 1));
	if (writer_callee(&walk->w, i, LIST_SECTION_BEGIN))
		return (uint8_t)(sections << 1 | (sections & 1u << NESTING_MAX));
	return sections;
}

/* A way that comes to the load again has another pointer there. */
static void spread(struct walk *walk, unsigned sections)
{
	const struct code *code = &walk->w.s->code;
	bool changed = true;
	int next[2];

	walk->sections[walk->w.at] = (uint8_t)(1u << sections);
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < code->count; i++) {
			uint8_t behind = sections_behind(walk, i);
			unsigned n = behind ? code_next(code, i, next) : 0;

			for (unsigned j = 0; j < n; j++) {
				if (next[j] == CODE_OUTSIDE || next[j] == (int)walk->w.at ||
				    (walk->sections[next[j]] | behind) == walk->sections[next[j]])
					continue;
				walk->sections[next[j]] |= behind;
				changed = true;
			}
		}
	}
}

static bool goes_through(const struct walk *walk, unsigned i)
{
	struct flow_pointer where;

	if (i == walk->w.at || !walk->w.s->code.insns[i].op.insn.nmem)
		return false;
	where = flow_address(walk->w.s->flow, i);
	return writer_same_object(&where, &walk->read);
}

/* Whether the instruction gives the pointer to another function. A jump may be one to the end of this one. */
static bool tells(const struct walk *walk, unsigned i)
{
	const struct code_insn *insn = &walk->w.s->code.insns[i];

	return (insn->op.kind == INSN_OP_CALL || insn->callee) && flow_is_argument(walk->w.s->flow, i, &walk->read);
}

/* Whether the instruction loads what a store of the pointer has left on the stack. */
static bool takes_up(const struct walk *walk, unsigned i)
{
	const struct view_side *s = walk->w.s;
	const struct flow_pointer from = flow_address(s->flow, i);

	if (!s->code.insns[i].op.insn.nmem || !(s->code.insns[i].op.insn.mem[0].rw & INSN_READ))
		return false;
	for (unsigned j = 0; j < s->code.count; j++) {
		struct flow_pointer where, what;

		if (!walk->sections[j] || !writer_is_plain_store(&walk->w, j))
			continue;
		where = flow_address(s->flow, j);
		what = flow_stored(s->flow, j);
		if (writer_same_object(&what, &walk->read) && writer_same_address(&where, &from))
			return true;
	}
	return false;
}

/* Whether the instruction does something with the pointer, other than to go through it. */
static bool passes_on(const struct walk *walk, unsigned i)
{
	const struct flow *flow = walk->w.s->flow;
	struct flow_pointer what = flow_stored(flow, i), result = flow_register(flow, i, X86_RAX);

	return tells(walk, i) || takes_up(walk, i) || writer_same_object(&what, &walk->read) ||
	       (walk->w.s->code.insns[i].op.kind == INSN_OP_RET && writer_same_object(&result, &walk->read));
}

enum publish_outlives publish_outlives_section(const struct view *v, unsigned side)
{
	const struct view_side *s = &v->side[side];
	struct walk walk = {.w = {.v = v, .s = s, .at = s->at}, .read = flow_loaded(s->flow, s->at)};
	unsigned sections = sections_in(v->race, side);
	bool told = false, used = false, passed = false;

	if (!writer_is_object(&walk.read) || !sections)
		return PUBLISH_ENDS_WITH_SECTION;
	spread(&walk, sections);
	for (unsigned i = 0; i < s->code.count; i++) {
		bool inside = walk.sections[i] & ~1u, outside = walk.sections[i] & 1;

		if (inside && goes_through(&walk, i) && s->code.insns[i].op.insn.flags & INSN_LOCKED)
			return PUBLISH_ENDS_WITH_SECTION;
		told |= inside && tells(&walk, i);
		used |= outside && goes_through(&walk, i);
		passed |= outside && passes_on(&walk, i);
	}
	/* A function that is told of the object inside the section may take a reference on it. */
	if (used && !told)
		return PUBLISH_OUTLIVES_SECTION;
	return used || passed ? PUBLISH_MAY_OUTLIVE_SECTION : PUBLISH_ENDS_WITH_SECTION;
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

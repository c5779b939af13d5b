// SPDX-License-Identifier: GPL-2.0-or-later
/* What the reader of a pointer makes of it, and whether that outlives the read-side critical section. */
#include "pruner/flow/calls.h"
#include "pruner/publish.h"
#include "pruner/publish_writer.h"

#define NESTING_MAX 7 /* More sections than that count as so many. */

struct walk {
	const struct writer w; /* The reader, for what the files behind publish_of() find in a function's code. */
	struct flow_pointer read;
	/* What keeps the object alive is that preemption is off, as a spinlock makes it, and no section. */
	bool by_lock;
	/* In how many sections ways may lead from the load to each instruction: a bit for each number. Behind 0 it stays 0. */
	uint8_t sections[RACE_CODE_MAX];
	/* The registers that may hold a pointer into the object before each instruction. A bit for each enum x86_gpr. */
	uint16_t holders[RACE_CODE_MAX];
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

/* Whether in some instance only a lock that turns preemption off kept the object alive. */
static bool is_by_lock(const struct race *race, unsigned side)
{
	bool found = false;

	for (unsigned i = 0; i < race->kept; i++) {
		const struct guest_context *c = &race->instances[i].sides[side].context;

		found |= c->known && c->preempt_off && !c->irqs_off && c->kind == GUEST_TASK && !c->rcu_nesting;
	}
	return found;
}

static uint8_t sections_behind(const struct walk *walk, unsigned i)
{
	uint8_t sections = walk->sections[i];

	if (writer_callee(&walk->w, i, walk->by_lock ? LIST_UNLOCK : LIST_SECTION_END))
		return (uint8_t)(sections >> 1 | (sections & 1));
	if (writer_callee(&walk->w, i, walk->by_lock ? LIST_LOCK : LIST_SECTION_BEGIN))
		return (uint8_t)((sections & ~1u) << 1 | (sections & (1u << NESTING_MAX | 1)));
	return sections;
}

/* A copy of the pointer, or the pointer and a number, is one into the object. What is loaded through it is not. */
static uint16_t holders_behind(const struct walk *walk, unsigned i)
{
	const struct insn_op *op = &walk->w.s->code.insns[i].op;
	uint16_t holders = walk->holders[i], from = op->src.kind == INSN_OPERAND_REG ? (uint16_t)(1u << op->src.reg) : 0;
	bool stays = op->kind == INSN_OP_ADD || op->kind == INSN_OP_SUB || op->kind == INSN_OP_CMOV;
	bool comes = op->kind == INSN_OP_MOV || op->kind == INSN_OP_LEA || op->kind == INSN_OP_CMOV;

	if (i == walk->w.at)
		return (uint16_t)(1u << op->dst.reg);
	if (op->kind == INSN_OP_CALL)
		return holders & FLOW_CALLEE_SAVED;
	if (op->dst.kind != INSN_OPERAND_REG || op->dst.size != 8)
		return (uint16_t)(holders & ~op->writes);
	if (!stays)
		holders = (uint16_t)(holders & ~op->writes);
	if (comes && walk->holders[i] & from)
		holders |= (uint16_t)(1u << op->dst.reg);
	return holders;
}

static bool join(struct walk *walk, unsigned into, uint8_t sections, uint16_t holders)
{
	bool changes = (sections & ~walk->sections[into]) || (holders & ~walk->holders[into]);

	walk->sections[into] |= sections;
	walk->holders[into] |= holders;
	return changes;
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
				if (next[j] != CODE_OUTSIDE && next[j] != (int)walk->w.at)
					changed |= join(walk, (unsigned)next[j], behind, holders_behind(walk, i));
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

static bool may_go_through(const struct walk *walk, unsigned i)
{
	const struct insn *insn = &walk->w.s->code.insns[i].op.insn;

	return i != walk->w.at && insn->nmem && insn->mem[0].base >= 0 && walk->holders[i] >> insn->mem[0].base & 1;
}

/*
 * Whether the instruction may give the pointer to another function. A jump may be one to the end of this one. What begins and
 * ends a section has no arguments, and finds the pointer in a register by chance.
 */
static bool tells(const struct walk *walk, unsigned i)
{
	const struct code_insn *insn = &walk->w.s->code.insns[i];

	if (writer_callee(&walk->w, i, LIST_SECTION_BEGIN) || writer_callee(&walk->w, i, LIST_SECTION_END))
		return false;
	return (insn->op.kind == INSN_OP_CALL || (insn->op.kind == INSN_OP_JUMP && insn->callee)) &&
	       walk->holders[i] & FLOW_ARGUMENTS;
}

static bool stores(const struct walk *walk, unsigned i)
{
	const struct insn_op *op = &walk->w.s->code.insns[i].op;

	return i != walk->w.at && writer_is_plain_store(&walk->w, i) && op->data & walk->holders[i];
}

/* Whether the instruction loads what a store of the pointer has left on the stack. */
static bool takes_up(const struct walk *walk, unsigned i)
{
	const struct view_side *s = walk->w.s;
	const struct insn *insn = &s->code.insns[i].op.insn;
	struct flow_pointer from, where;

	if (!insn->nmem || !(insn->mem[0].rw & INSN_READ))
		return false;
	from = flow_address(s->flow, i);
	for (unsigned j = 0; j < s->code.count; j++) {
		if (!stores(walk, j))
			continue;
		where = flow_address(s->flow, j);
		if (writer_same_address(&where, &from))
			return true;
	}
	return false;
}

/* Whether the instruction may go on to code that was not kept, with the pointer in a register. */
static bool leads_away(const struct walk *walk, unsigned i)
{
	const struct code *code = &walk->w.s->code;
	int next[2];
	unsigned n = code_next(code, i, next);
	bool away = false;

	for (unsigned j = 0; j < n; j++)
		away |= next[j] == CODE_OUTSIDE;
	return away && !code->closed && holders_behind(walk, i);
}

/* Whether the instruction may do something with the pointer. */
static bool may_use(const struct walk *walk, unsigned i)
{
	return tells(walk, i) || stores(walk, i) || leads_away(walk, i) || takes_up(walk, i) || may_go_through(walk, i) ||
	       (walk->w.s->code.insns[i].op.kind == INSN_OP_RET && walk->holders[i] >> X86_RAX & 1);
}

enum publish_outlives publish_outlives_section(const struct view *v, unsigned side)
{
	const struct view_side *s = &v->side[side];
	struct walk walk = {.w = {.v = v, .s = s, .at = s->at}, .read = flow_loaded(s->flow, s->at)};
	unsigned sections = sections_in(v->race, side);
	bool told = false, used = false, may = false;

	if (!sections && is_by_lock(v->race, side)) {
		walk.by_lock = true;
		sections = 1;
	}
	if (!writer_is_object(&walk.read) || !sections)
		return PUBLISH_ENDS_WITH_SECTION;
	spread(&walk, sections);
	for (unsigned i = 0; i < s->code.count; i++) {
		bool inside = walk.sections[i] & ~1u, outside = walk.sections[i] & 1;

		if (inside && may_go_through(&walk, i) && s->code.insns[i].op.insn.flags & INSN_LOCKED)
			return PUBLISH_ENDS_WITH_SECTION;
		told |= inside && tells(&walk, i);
		used |= outside && goes_through(&walk, i);
		may |= outside && may_use(&walk, i);
	}
	/* A function that is told of the object inside the section may take a reference on it. Behind a lock may be another
	 * one. */
	if (used && !told && !walk.by_lock)
		return PUBLISH_OUTLIVES_SECTION;
	return used || may ? PUBLISH_MAY_OUTLIVE_SECTION : PUBLISH_ENDS_WITH_SECTION;
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

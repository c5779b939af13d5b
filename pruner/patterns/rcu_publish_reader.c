// SPDX-License-Identifier: GPL-2.0-or-later
/* Follows the pointer that a reader loads, and finds uses of it after the end of the read-side critical section. */
#include "pruner/code/flow/calls.h"
#include "pruner/patterns/rcu_publish.h"
#include "pruner/patterns/rcu_publish_writer.h"
#include "pruner/patterns/rcu_section.h"

/* The deepest nesting of sections that is distinguished. A deeper nesting is recorded as 7, the highest bit of a uint8_t. */
#define NESTING_MAX 7

struct reader {
	/*
	 * Describes the code of the reader for the functions of rcu_publish_writer.h. `w.at` is the load of the pointer, not a
	 * store.
	 */
	const struct writer w;
	struct flow_pointer read;
	/* The reader is in no section: a spinlock, which turns preemption off, keeps the object alive. */
	bool by_lock;
	/* Only the kernel's lack of preemption keeps the object alive, up to the next call that may sleep. */
	bool until_sleep;
	/*
	 * The nesting of sections before each instruction, on the paths from the load: bit n is set if a path is in n sections.
	 * A path that has left the last section stays at 0.
	 */
	uint8_t sections[RACE_CODE_MAX];
	/* The registers that may hold a pointer into the object, before each instruction. One bit for each enum x86_gpr. */
	uint16_t holders[RACE_CODE_MAX];
};

/*
 * Returns in how many nested read-side critical sections the reader was at its load, at most NESTING_MAX. Counts only instances
 * in which the reader is in a section and is a task with interrupts and preemption on: then only sections keep the object
 * alive. If these instances differ, returns the lowest nesting. Returns 0 if there is no such instance.
 */
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

/* Returns whether, in some instance, only a lock that turns preemption off kept the object alive. */
static bool is_by_lock(const struct race *race, unsigned side)
{
	bool found = false;

	for (unsigned i = 0; i < race->kept; i++) {
		const struct guest_context *c = &race->instances[i].sides[side].context;

		found |= c->known && c->preempt_off && !c->irqs_off && c->kind == GUEST_TASK && !c->rcu_nesting;
	}
	return found;
}

static bool may_sleep(const struct reader *reader, unsigned i)
{
	return reader->w.s->code.insns[i].op.kind == INSN_OP_CALL && !writer_callee(&reader->w, i, LIST_NO_SLEEP);
}

static uint8_t sections_after(const struct reader *reader, unsigned i)
{
	uint8_t sections = reader->sections[i];

	if (reader->until_sleep)
		return may_sleep(reader, i) && sections ? 1 : sections;
	if (writer_callee(&reader->w, i, reader->by_lock ? LIST_UNLOCK : LIST_SECTION_END))
		return (uint8_t)(sections >> 1 | (sections & 1));
	if (writer_callee(&reader->w, i, reader->by_lock ? LIST_LOCK : LIST_SECTION_BEGIN))
		return (uint8_t)((sections & ~1u) << 1 | (sections & (1u << NESTING_MAX | 1)));
	return sections;
}

/*
 * Returns the registers that may hold a pointer into the object after instruction `i`. A copy of the pointer, or the pointer
 * plus a number, is such a pointer. A value that is loaded from the object is not.
 */
static uint16_t holders_after(const struct reader *reader, unsigned i)
{
	const struct insn_op *op = &reader->w.s->code.insns[i].op;
	uint16_t holders = reader->holders[i], from = op->src.kind == INSN_OPERAND_REG ? (uint16_t)(1u << op->src.reg) : 0;
	bool stays = op->kind == INSN_OP_ADD || op->kind == INSN_OP_SUB || op->kind == INSN_OP_CMOV;
	bool comes = op->kind == INSN_OP_MOV || op->kind == INSN_OP_LEA || op->kind == INSN_OP_CMOV;

	if (i == reader->w.at)
		return (uint16_t)(1u << op->dst.reg);
	if (op->kind == INSN_OP_CALL)
		return holders & FLOW_CALLEE_SAVED;
	if (op->dst.kind != INSN_OPERAND_REG || op->dst.size != 8)
		return (uint16_t)(holders & ~op->writes);
	if (!stays)
		holders = (uint16_t)(holders & ~op->writes);
	if (comes && reader->holders[i] & from)
		holders |= (uint16_t)(1u << op->dst.reg);
	return holders;
}

static bool join(struct reader *reader, unsigned into, uint8_t sections, uint16_t holders)
{
	bool changes = (sections & ~reader->sections[into]) || (holders & ~reader->holders[into]);

	reader->sections[into] |= sections;
	reader->holders[into] |= holders;
	return changes;
}

/*
 * Propagate sections and registers along all paths from the load. A path ends if it comes back to the load, which gives a new
 * pointer.
 */
static void propagate(struct reader *reader, unsigned sections)
{
	const struct code *code = &reader->w.s->code;
	bool changed = true;
	int next[2];

	reader->sections[reader->w.at] = (uint8_t)(1u << sections);
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < code->count; i++) {
			uint8_t after = sections_after(reader, i);
			unsigned n = after ? code_successors(code, i, next) : 0;

			for (unsigned j = 0; j < n; j++) {
				if (next[j] != CODE_OUTSIDE && next[j] != (int)reader->w.at)
					changed |= join(reader, (unsigned)next[j], after, holders_after(reader, i));
			}
		}
	}
}

static bool follows(const struct reader *reader, unsigned i)
{
	struct flow_pointer where;

	if (i == reader->w.at || !reader->w.s->code.insns[i].op.insn.nmem)
		return false;
	where = flow_address(reader->w.s->flow, i);
	return writer_same_object(&where, &reader->read);
}

static bool may_follow(const struct reader *reader, unsigned i)
{
	const struct insn *insn = &reader->w.s->code.insns[i].op.insn;

	return i != reader->w.at && insn->nmem && insn->mem[0].base >= 0 && reader->holders[i] >> insn->mem[0].base & 1;
}

/*
 * Returns whether the instruction may pass the pointer to another function, by a call or a tail call. A function that begins or
 * ends a section is excluded: it takes no arguments, and the pointer is in an argument register only by chance.
 */
static bool passes_on(const struct reader *reader, unsigned i)
{
	const struct code_insn *insn = &reader->w.s->code.insns[i];

	if (writer_callee(&reader->w, i, LIST_SECTION_BEGIN) || writer_callee(&reader->w, i, LIST_SECTION_END))
		return false;
	return (insn->op.kind == INSN_OP_CALL || (insn->op.kind == INSN_OP_JUMP && insn->callee)) &&
	       reader->holders[i] & FLOW_ARGUMENTS;
}

static bool stores(const struct reader *reader, unsigned i)
{
	const struct insn_op *op = &reader->w.s->code.insns[i].op;

	return i != reader->w.at && writer_is_plain_store(&reader->w, i) && op->data & reader->holders[i];
}

/* Returns whether the instruction loads a pointer that the function has stored, for example on the stack. */
static bool reloads(const struct reader *reader, unsigned i)
{
	const struct view_side *s = reader->w.s;
	const struct insn *insn = &s->code.insns[i].op.insn;
	struct flow_pointer from, where;

	if (!insn->nmem || !(insn->mem[0].rw & INSN_READ))
		return false;
	from = flow_address(s->flow, i);
	for (unsigned j = 0; j < s->code.count; j++) {
		if (!stores(reader, j))
			continue;
		where = flow_address(s->flow, j);
		if (writer_same_address(&where, &from))
			return true;
	}
	return false;
}

/* Returns whether the instruction may continue in code that was not kept, with the pointer in a register. */
static bool leaves_kept_code(const struct reader *reader, unsigned i)
{
	const struct code *code = &reader->w.s->code;
	int next[2];
	unsigned n = code_successors(code, i, next);
	bool away = false;

	for (unsigned j = 0; j < n; j++)
		away |= next[j] == CODE_OUTSIDE;
	return away && !code->closed && holders_after(reader, i);
}

static bool returns_it(const struct reader *reader, unsigned i)
{
	return reader->w.s->code.insns[i].op.kind == INSN_OP_RET && reader->holders[i] >> X86_RAX & 1;
}

/* Returns whether the instruction may use the pointer in any way. */
static bool may_use(const struct reader *reader, unsigned i)
{
	return passes_on(reader, i) || stores(reader, i) || leaves_kept_code(reader, i) || reloads(reader, i) ||
	       may_follow(reader, i) || returns_it(reader, i);
}

enum rcu_publish_outlives rcu_publish_outlives_section(const struct view *v, unsigned side)
{
	const struct view_side *s = &v->side[side];
	struct reader reader = {.w = {.v = v, .s = s, .at = s->at}, .read = flow_loaded(s->flow, s->at)};
	unsigned sections = sections_in(v->race, side);
	bool passed = false, used = false, may = false;

	if (!sections && is_by_lock(v->race, side)) {
		reader.by_lock = true;
		sections = 1;
	}
	if (!sections && rcu_section_until_sleep(v, side)) {
		reader.until_sleep = true;
		sections = 1;
	}
	if (!writer_is_object(&reader.read) || !sections)
		return RCU_PUBLISH_ENDS_WITH_SECTION;
	propagate(&reader, sections);
	for (unsigned i = 0; i < s->code.count; i++) {
		bool inside = reader.sections[i] & ~1u, outside = reader.sections[i] & 1;

		if (inside && may_follow(&reader, i) && s->code.insns[i].op.insn.flags & INSN_LOCKED)
			return RCU_PUBLISH_ENDS_WITH_SECTION;
		passed |= inside && passes_on(&reader, i);
		used |= outside && follows(&reader, i);
		/*
		 * On a kernel without preemption, the section lasts until a call of the scheduler. Code that was not kept, or
		 * the caller, may call the scheduler and then use the pointer.
		 */
		may |= (outside && may_use(&reader, i)) ||
		       (inside && reader.until_sleep && (leaves_kept_code(&reader, i) || returns_it(&reader, i)));
	}
	/*
	 * Call the use wrong only if nothing else can protect it. A function that gets the pointer inside the section may take
	 * a reference. A reader that held a lock in place of a section may take another lock for a later use. On a kernel
	 * without preemption, a call may end the section, but often does not.
	 */
	if (used && !passed && !reader.by_lock && !reader.until_sleep)
		return RCU_PUBLISH_OUTLIVES_SECTION;
	return used || may ? RCU_PUBLISH_MAY_OUTLIVE_SECTION : RCU_PUBLISH_ENDS_WITH_SECTION;
}

bool rcu_publish_by_reader(const struct view_side *s)
{
	for (unsigned i = 0; i < s->code.count; i++) {
		const struct insn *insn = &s->code.insns[i].op.insn;
		struct flow_pointer what;

		if (i == s->at || !insn->nmem || !(insn->mem[0].rw & INSN_WRITE))
			continue;
		if (flow_same_place(s->flow, s->at, i))
			return true;
		what = flow_stored(s->flow, i);
		if (insn->mem[0].base != X86_RSP && what.root > 0 && flow_definition(s->flow, &what) == (int)s->at)
			return true;
	}
	return false;
}

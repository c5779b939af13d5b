// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks whether code is a writer of a sequence count: whether the function adds 1 to the count an odd number of times before a
 * store, and an even number of times before it returns.
 */
#include "pruner/code/flow/internal.h"
#include "pruner/code/flow/seqcount.h"

/*
 * How often the paths to an instruction added 1 to the count: never, or an odd or even number of times. The values are bits,
 * because two paths may differ.
 */
enum { NEVER = 1, ODD = 2, EVEN = 4 };

/* Size of a sequence count in bytes: the field `sequence` of seqcount_t is an unsigned int. */
#define COUNT_SIZE 4
/*
 * The longest distance, in instructions, between an addition in a register and the store of that register. Compilers schedule a
 * few other instructions in between.
 */
#define NEARBY 8

struct writer {
	const struct flow_access *access;
	const struct code *code;
	uint64_t count;
	uint8_t parity[RACE_CODE_MAX];
};

static bool stores_count(const struct writer *w, unsigned i)
{
	const struct insn *insn = &w->code->insns[i].op.insn;

	return insn->nmem == 1 && insn->mem[0].rw & INSN_WRITE && flow_gva(w->access, i) == w->count;
}

static bool adds_one(const struct insn_op *op)
{
	return (op->kind == INSN_OP_ADD || op->kind == INSN_OP_LEA) && op->src.kind != INSN_OPERAND_MEM && op->imm == 1 &&
	       (op->kind == INSN_OP_LEA ? op->src.kind == INSN_OPERAND_REG : op->src.kind == INSN_OPERAND_IMM);
}

/* Returns whether instruction `i` stores a register whose last write, at most NEARBY instructions before, added 1 to it. */
static bool register_was_raised(const struct writer *w, unsigned i)
{
	int8_t reg = w->code->insns[i].op.src.reg;

	for (unsigned back = 1; back <= NEARBY && back <= i; back++) {
		const struct insn_op *op = &w->code->insns[i - back].op;

		if (op->writes >> reg & 1)
			return op->dst.kind == INSN_OPERAND_REG && op->dst.reg == reg && adds_one(op);
	}
	return false;
}

/*
 * Returns whether instruction `i`, a store to the count, adds 1 to it: in one instruction, or as the last of a load, an
 * addition and a store.
 */
static bool raises(const struct writer *w, unsigned i)
{
	const struct insn_op *op = &w->code->insns[i].op;
	struct flow_write write;

	if (op->insn.mem[0].size != COUNT_SIZE)
		return false;
	if (op->dst.kind == INSN_OPERAND_MEM && op->kind == INSN_OP_ADD)
		return op->src.kind == INSN_OPERAND_IMM && op->imm == 1;
	if (op->kind != INSN_OP_MOV || op->src.kind != INSN_OPERAND_REG)
		return false;
	flow_write(w->access->flow, i, &write);
	return write.merges && write.deltas == FLOW_UP && register_was_raised(w, i);
}

static uint8_t raised(uint8_t parity)
{
	return (uint8_t)((parity & (NEVER | EVEN) ? ODD : 0) | (parity & ODD ? EVEN : 0));
}

/*
 * Propagate the number of additions along all paths until nothing changes. Returns false when a store to the count does
 * anything but add 1.
 */
static bool propagate(struct writer *w)
{
	bool changed = true;
	int next[2];

	for (unsigned i = 0; i < w->code->count; i++)
		w->parity[i] = i == 0 || !w->code->insns[i].has_predecessor ? NEVER : 0;
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < w->code->count; i++) {
			unsigned n = w->parity[i] ? code_successors(w->code, i, next) : 0;
			bool stores = n && stores_count(w, i);
			uint8_t after = stores ? raised(w->parity[i]) : w->parity[i];

			if (stores && !raises(w, i))
				return false;
			for (unsigned j = 0; j < n; j++) {
				if (next[j] == CODE_OUTSIDE || (w->parity[next[j]] | after) == w->parity[next[j]])
					continue;
				w->parity[next[j]] |= after;
				changed = true;
			}
		}
	}
	return true;
}

/* Returns whether the count is even wherever the function ends. */
static bool ends_even(const struct writer *w)
{
	int next[2];

	for (unsigned i = 0; i < w->code->count; i++) {
		unsigned n = code_successors(w->code, i, next);
		bool ends = w->code->insns[i].op.kind == INSN_OP_RET;
		uint8_t after = stores_count(w, i) ? raised(w->parity[i]) : w->parity[i];

		for (unsigned j = 0; j < n; j++)
			ends |= next[j] == CODE_OUTSIDE;
		if (ends && after & ODD)
			return false;
	}
	return true;
}

/*
 * Set out->begin to the last addition before the store of the access, and out->end to the first addition after it, in the order
 * of the code.
 */
static void find_additions(const struct writer *w, struct seqcount_section *out)
{
	bool end = false;

	out->begin = out->end = w->access->at;
	for (unsigned i = 0; i < w->code->count; i++) {
		if (i == w->access->at || !w->parity[i] || !stores_count(w, i))
			continue;
		if (i < w->access->at) {
			out->begin = i;
		} else if (!end) {
			out->end = i;
			end = true;
		}
	}
}

bool seqcount_of_writer(const struct flow_access *a, uint64_t count, bool latch, struct seqcount_section *out)
{
	struct writer w = {.access = a, .code = a->flow->code, .count = count};
	uint8_t parity;

	if (a->flow->failed || !count || !propagate(&w) || !ends_even(&w))
		return false;
	parity = w.parity[a->at];
	*out = (struct seqcount_section){
		.count = count, .latch = latch, .odd = parity == ODD, .of_count = stores_count(&w, a->at)};
	find_additions(&w, out);
	if (out->of_count)
		return out->begin != out->end;
	/* A latch's writer changes the first copy after one addition (ODD), and the second copy after two additions (EVEN). */
	return parity == ODD || (latch && parity == EVEN);
}

bool seqcount_of_any(const struct flow_access *a, struct seqcount_section *out)
{
	const struct code *code = a->flow->code;

	for (unsigned i = 0; !a->flow->failed && i < code->count; i++) {
		const struct insn *insn = &code->insns[i].op.insn;

		if (insn->nmem == 1 && insn->mem[0].rw & INSN_WRITE && insn->mem[0].size == COUNT_SIZE &&
		    seqcount_of_writer(a, flow_gva(a, i), false, out))
			return true;
	}
	return false;
}

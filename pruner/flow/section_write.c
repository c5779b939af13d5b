// SPDX-License-Identifier: GPL-2.0-or-later
/* The writer's half of a sequence count: how often the count was raised by 1 on all ways to a store, and to the function's end.
 */
#include "pruner/flow/internal.h"
#include "pruner/flow/section.h"

/* How many additions there may have been on the ways to an instruction. They are bits. */
enum { NEVER = 1, ODD = 2, EVEN = 4 };

#define COUNT_SIZE 4 /* bytes of a count */
#define NEARBY 8     /* instructions between an addition in a register and its store */

struct writer {
	const struct flow_access *access;
	const struct code *code;
	uint64_t count;
	uint8_t ways[RACE_CODE_MAX];
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

/* Whether the register that `i` stores was made by an addition of 1 close by. */
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

/* Whether the store of the count adds 1 to what was there, in one instruction or in several. */
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
	return write.merges && write.steps == FLOW_UP && register_was_raised(w, i);
}

static uint8_t raised(uint8_t ways)
{
	return (uint8_t)((ways & (NEVER | EVEN) ? ODD : 0) | (ways & ODD ? EVEN : 0));
}

/* Spread the ways until they do not change any more. Returns false when the count is stored other than by an addition of 1. */
static bool spread(struct writer *w)
{
	bool changed = true;
	int next[2];

	for (unsigned i = 0; i < w->code->count; i++)
		w->ways[i] = i == 0 || !w->code->insns[i].entered ? NEVER : 0;
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < w->code->count; i++) {
			unsigned n = w->ways[i] ? code_next(w->code, i, next) : 0;
			bool stores = n && stores_count(w, i);
			uint8_t after = stores ? raised(w->ways[i]) : w->ways[i];

			if (stores && !raises(w, i))
				return false;
			for (unsigned j = 0; j < n; j++) {
				if (next[j] == CODE_OUTSIDE || (w->ways[next[j]] | after) == w->ways[next[j]])
					continue;
				w->ways[next[j]] |= after;
				changed = true;
			}
		}
	}
	return true;
}

/* Whether the count is even again wherever the function ends. */
static bool ends_even(const struct writer *w)
{
	int next[2];

	for (unsigned i = 0; i < w->code->count; i++) {
		unsigned n = code_next(w->code, i, next);
		bool ends = w->code->insns[i].op.kind == INSN_OP_RET;
		uint8_t after = stores_count(w, i) ? raised(w->ways[i]) : w->ways[i];

		for (unsigned j = 0; j < n; j++)
			ends |= next[j] == CODE_OUTSIDE;
		if (ends && after & ODD)
			return false;
	}
	return true;
}

/* The additions next to the store, in the order of the code. */
static void find_additions(const struct writer *w, struct section *out)
{
	bool behind = false;

	out->before = out->behind = w->access->at;
	for (unsigned i = 0; i < w->code->count; i++) {
		if (i == w->access->at || !w->ways[i] || !stores_count(w, i))
			continue;
		if (i < w->access->at) {
			out->before = i;
		} else if (!behind) {
			out->behind = i;
			behind = true;
		}
	}
}

bool section_of_writer(const struct flow_access *a, uint64_t count, bool latch, struct section *out)
{
	struct writer w = {.access = a, .code = a->flow->code, .count = count};
	uint8_t ways;

	if (a->flow->failed || !count || !spread(&w) || !ends_even(&w))
		return false;
	ways = w.ways[a->at];
	*out = (struct section){.count = count, .latch = latch, .odd = ways == ODD, .of_count = stores_count(&w, a->at)};
	find_additions(&w, out);
	if (out->of_count)
		return out->before != out->behind;
	/* A latch's second copy is changed behind two additions. */
	return ways == ODD || (latch && ways == EVEN);
}

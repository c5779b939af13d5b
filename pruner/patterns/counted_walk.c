// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds code that walks a list twice: to count its entries, and to store something for each entry. */
#include "pruner/patterns/counted_walk.h"

#include "pruner/code/flow/reachability.h"

/* A loop over a list: it loads the pointer to the next entry again and again, until the pointer leads to the list's head. */
struct walk {
	/* Index of the load of the pointer to the next entry: mov (%rax),%rax. */
	unsigned next;
	/* The register with the address of the list's head. */
	int head;
	bool loop[RACE_CODE_MAX];
	bool reached[RACE_CODE_MAX]; /* The instructions that may run after `next`. */
};

static bool loads_next(const struct insn_op *op)
{
	return op->kind == INSN_OP_MOV && op->src.kind == INSN_OPERAND_MEM && op->src.size == 8 &&
	       op->dst.kind == INSN_OPERAND_REG && op->insn.nmem == 1 && op->insn.mem[0].base == op->dst.reg &&
	       op->insn.mem[0].index < 0;
}

/* Returns the register that the instruction compares with the walk's pointer, or -1. */
static int compared_with(const struct insn_op *op, int pointer)
{
	if (op->kind != INSN_OP_CMP || op->dst.kind != INSN_OPERAND_REG || op->src.kind != INSN_OPERAND_REG ||
	    op->dst.size != 8)
		return -1;
	return op->dst.reg == pointer ? op->src.reg : op->src.reg == pointer ? op->dst.reg : -1;
}

static bool find_walk(const struct code *code, unsigned next, struct walk *out)
{
	bool back[RACE_CODE_MAX];

	if (!loads_next(&code->insns[next].op))
		return false;
	reachable(code, (int)next, NULL, NULL, out->reached);
	if (!out->reached[next])
		return false;
	out->next = next;
	out->head = -1;
	for (unsigned i = 0; i < code->count; i++) {
		if (out->reached[i])
			reachable(code, (int)i, NULL, NULL, back);
		out->loop[i] = i == next || (out->reached[i] && back[next]);
		if (out->loop[i] && out->head < 0)
			out->head = compared_with(&code->insns[i].op, code->insns[next].op.dst.reg);
	}
	return out->head >= 0;
}

static bool is_store(const struct insn_op *op)
{
	return op->insn.nmem && op->insn.mem[0].rw & INSN_WRITE && op->insn.mem[0].base != X86_RSP;
}

/* Returns whether the loop only adds a constant to a register for each entry, and neither stores nor calls. */
static bool is_counting(const struct code *code, const struct walk *w)
{
	bool adds = false;

	for (unsigned i = 0; i < code->count; i++) {
		const struct insn_op *op = &code->insns[i].op;

		if (!w->loop[i])
			continue;
		if (is_store(op) || op->kind == INSN_OP_CALL)
			return false;
		adds |= op->kind == INSN_OP_ADD && op->dst.kind == INSN_OPERAND_REG && op->src.kind == INSN_OPERAND_IMM &&
			op->dst.reg != code->insns[w->next].op.dst.reg;
	}
	return adds;
}

static bool is_storing(const struct code *code, const struct walk *w)
{
	for (unsigned i = 0; i < code->count; i++) {
		if (w->loop[i] && is_store(&code->insns[i].op))
			return true;
	}
	return false;
}

/*
 * Returns whether the second walk may follow the first one, over the same list: the head's register is not written in between.
 */
static bool is_one_list(const struct code *code, const struct walk *first, const struct walk *second)
{
	bool until[RACE_CODE_MAX];

	if (first->head != second->head || !first->reached[second->next] || second->reached[first->next])
		return false;
	for (unsigned i = 0; i < code->count; i++) {
		if (!first->reached[i] || !(code->insns[i].op.writes >> first->head & 1))
			continue;
		reachable(code, (int)i, NULL, NULL, until);
		if (until[second->next])
			return false;
	}
	return true;
}

bool counted_walk_of_side(const struct view_side *s, struct counted_walk *out)
{
	struct walk first, second;

	if (s->side->kind != RACE_SIDE_CPU || !s->followed || !s->reads)
		return false;
	for (unsigned i = 0; i < s->code.count; i++) {
		if (!find_walk(&s->code, i, &first) || !is_counting(&s->code, &first))
			continue;
		for (unsigned j = 0; j < s->code.count; j++) {
			if (j == i || (s->at != i && s->at != j) || !find_walk(&s->code, j, &second))
				continue;
			*out = (struct counted_walk){.counts = i, .stores = j};
			if (is_storing(&s->code, &second) && is_one_list(&s->code, &first, &second))
				return true;
		}
	}
	return false;
}

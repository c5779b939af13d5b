// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds in the code of two functions whether a word in memory hands data over from one function to the other (see handoff.h).
 */
#include "pruner/patterns/handoff.h"

#include <string.h>

#include "pruner/code/flow/reachability.h"

void handoff_resolve(const struct view_side *s, struct handoff_side *out)
{
	struct flow_access access = {.flow = s->flow, .at = s->at, .regs = &s->side->regs, .gva = s->side->gva};

	memset(out, 0, sizeof(*out));
	out->side = s;
	for (unsigned i = 0; i < s->code.count; i++) {
		const struct insn *insn = &s->code.insns[i].op.insn;

		if (insn->nmem == 1 && insn->mem[0].base != X86_RSP)
			out->gva[i] = flow_gva(&access, i);
	}
}

bool handoff_accesses(const struct handoff_side *end, unsigned i, uint64_t gva, unsigned size, uint8_t rw)
{
	const struct insn_mem *mem = &end->side->code.insns[i].op.insn.mem[0];

	return end->gva[i] && mem->rw & rw && end->gva[i] < gva + size && gva < end->gva[i] + mem->size;
}

void handoff_dependencies(const struct handoff_side *end, uint64_t gva, unsigned size, struct flow_dependencies *out)
{
	for (unsigned i = 0; i < end->side->code.count; i++) {
		if (handoff_accesses(end, i, gva, size, INSN_READ))
			flow_dependencies(&end->side->code, i, out);
	}
}

/*
 * Returns whether a path from jump `j` through its successor next[k] reaches instruction `i` without another branch of jumps[]
 * in between.
 */
static bool successor_reaches(const struct code *code, const bool jumps[RACE_CODE_MAX], unsigned j, const int next[2],
			      unsigned k, unsigned i)
{
	int16_t removed[RACE_CODE_MAX];
	bool reached[RACE_CODE_MAX];

	memset(removed, 0xff, sizeof(removed));
	removed[j] = (int16_t)next[!k];
	reachable(code, (int)j, removed, jumps, reached);
	return reached[i];
}

/*
 * Returns whether instruction `j` is a branch that jumps[] marks, with two different successors. Sets next[] to these
 * successors.
 */
static bool is_branch(const struct code *code, const bool jumps[RACE_CODE_MAX], unsigned j, int next[2])
{
	return jumps[j] && code_successors(code, j, next) == 2 && next[0] != next[1];
}

bool handoff_guarded(const struct handoff_side *end, const bool jumps[RACE_CODE_MAX], int from, unsigned i)
{
	const struct code *code = &end->side->code;
	int16_t removed[RACE_CODE_MAX];
	bool reached[RACE_CODE_MAX];
	int next[2];

	/*
	 * For each branch, remove the successor through which the instruction is reachable. A branch with two such successors
	 * does not guard the instruction, and keeps both.
	 */
	memset(removed, 0xff, sizeof(removed));
	for (unsigned j = 0; j < code->count; j++) {
		bool first, second;

		if (!is_branch(code, jumps, j, next))
			continue;
		first = successor_reaches(code, jumps, j, next, 0, i);
		second = successor_reaches(code, jumps, j, next, 1, i);
		if (first != second)
			removed[j] = (int16_t)next[second];
	}
	reachable(code, from, removed, NULL, reached);
	return !reached[i];
}

/* Returns whether `jump` tests whether a 64-bit operand is 0: a "test reg,reg" or "cmp $0" sets the flags that `jump` reads. */
static bool tests_zero(const struct code *code, unsigned jump)
{
	const struct insn_op *op;
	unsigned i = jump;

	while (i > 0 && !code->insns[i - 1].op.sets_flags && code->insns[i - 1].op.kind == INSN_OP_MOV)
		i--;
	op = i ? &code->insns[i - 1].op : NULL;
	if (!op || op->dst.size != 8)
		return false;
	return (op->kind == INSN_OP_CMP && op->src.kind == INSN_OPERAND_IMM && !op->imm) ||
	       (op->kind == INSN_OP_TEST && op->src.kind == INSN_OPERAND_REG && op->dst.kind == INSN_OPERAND_REG &&
		op->src.reg == op->dst.reg);
}

bool handoff_guarded_by_zero(const struct handoff_side *end, const bool jumps[RACE_CODE_MAX], bool zero, unsigned i)
{
	const struct code *code = &end->side->code;
	int16_t removed[RACE_CODE_MAX];
	bool reached[RACE_CODE_MAX];
	int next[2];

	memset(removed, 0xff, sizeof(removed));
	for (unsigned j = 0; j < code->count; j++) {
		int condition = code_condition(&code->insns[j].op);

		if (!is_branch(code, jumps, j, next) || !tests_zero(code, j))
			continue;
		if (condition == CODE_IF_ZERO || condition == CODE_IF_NOT_ZERO)
			removed[j] = (int16_t)next[(condition == CODE_IF_ZERO) == zero];
	}
	reachable(code, REACH_FROM_START, removed, NULL, reached);
	return !reached[i];
}

static bool is_function(const struct race_side *a, const struct race_side *b)
{
	return a->kind == RACE_SIDE_CPU && strcmp(a->symbol.name, b->symbol.name) == 0 &&
	       strcmp(a->symbol.module, b->symbol.module) == 0;
}

/*
 * `other` is a side in the same function as `s`. Returns the index that the instruction of `other` has in the code of `s`, or
 * -1 if the code does not contain the instruction.
 */
static int index_of(const struct view_side *s, const struct race_side *other)
{
	const struct code *code = &s->code;
	uint64_t at = other->pc - other->symbol.addr + s->side->symbol.addr - code->base;

	return other->pc && at < RACE_CODE_MAX ? code->index[at] : -1;
}

struct breach {
	const struct race *judged;
	const struct handoff_side *end, *partner;
	/*
	 * `data`: the report has a race at an instruction that accesses the data (is_data[]). `other`: the report has a race
	 * between the two functions, and neither side is at an instruction that accesses the word of the handoff (is_word[]).
	 */
	bool data, other;
};

static bool is_at_word(const struct handoff_side *end, const struct race_side *side)
{
	int i = index_of(end->side, side);

	return i >= 0 && end->is_word[i];
}

static void check_breach(void *ctx, const struct race *race, unsigned which)
{
	struct breach *b = ctx;
	const struct race_side *side = &race->first.sides[which], *other = &race->first.sides[!which];
	int i = index_of(b->end->side, side);

	if (race == b->judged)
		return;
	if (i >= 0 && b->end->is_data[i])
		b->data = true;
	else if (is_function(other, b->partner->side->side) && !is_at_word(b->end, side) && !is_at_word(b->partner, other))
		b->other = true;
}

static struct breach breach_of(const struct view *v, const struct handoff_side *a, const struct handoff_side *b)
{
	struct breach breach = {.judged = v->race, .end = a, .partner = b};

	related_of_function(v->related, a->side->side, check_breach, &breach);
	breach.end = b;
	breach.partner = a;
	related_of_function(v->related, b->side->side, check_breach, &breach);
	return breach;
}

bool handoff_data_raced(const struct view *v, const struct handoff_side *a, const struct handoff_side *b)
{
	return breach_of(v, a, b).data;
}

bool handoff_broken(const struct view *v, const struct handoff_side *a, const struct handoff_side *b)
{
	struct breach breach = breach_of(v, a, b);

	return breach.data || breach.other;
}

struct stores {
	const struct race_side *writer; /* NULL: stores of all functions count. */
	bool found;
};

static void check_stores(void *ctx, const struct race *race)
{
	struct stores *s = ctx;

	s->found |= race->rw[0] & race->rw[1] & INSN_WRITE;
	for (unsigned i = 0; i < 2 && s->writer; i++)
		s->found |= race->rw[i] & INSN_WRITE && !is_function(&race->first.sides[i], s->writer);
}

bool handoff_other_writer(const struct view *v, uint64_t gva, const struct handoff_side *writer)
{
	struct stores stores = {.writer = writer->side->side};

	related_at(v->related, v->race, gva, check_stores, &stores);
	return stores.found;
}

bool handoff_two_stores(const struct view *v, uint64_t gva)
{
	struct stores stores = {0};

	related_at(v->related, v->race, gva, check_stores, &stores);
	return stores.found;
}

struct stored {
	const struct view_side *writer;
	const unsigned *at;
	unsigned count;
	bool found;
};

static void check_stored(void *ctx, const struct race *race, unsigned which)
{
	struct stored *s = ctx;
	int i = race->rw[0] & race->rw[1] & INSN_WRITE ? index_of(s->writer, &race->first.sides[which]) : -1;

	for (unsigned j = 0; j < s->count; j++)
		s->found |= i == (int)s->at[j];
}

bool handoff_two_stores_by(const struct view *v, const struct view_side *writer, const unsigned at[], unsigned count)
{
	struct stored stored = {.writer = writer, .at = at, .count = count};

	related_of_function(v->related, writer->side, check_stored, &stored);
	return stored.found;
}

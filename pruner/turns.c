// SPDX-License-Identifier: GPL-2.0-or-later
#include "pruner/turns.h"

#include <string.h>

#include "pruner/flow/ways.h"

void turns_look(const struct view_side *s, struct turns_end *out)
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

bool turns_accesses(const struct turns_end *end, unsigned i, uint64_t gva, unsigned size, uint8_t rw)
{
	const struct insn_mem *mem = &end->side->code.insns[i].op.insn.mem[0];

	return end->gva[i] && mem->rw & rw && end->gva[i] < gva + size && gva < end->gva[i] + mem->size;
}

void turns_influence(const struct turns_end *end, uint64_t gva, unsigned size, struct flow_influence *out)
{
	for (unsigned i = 0; i < end->side->code.count; i++) {
		if (turns_accesses(end, i, gva, size, INSN_READ))
			flow_influence(&end->side->code, i, out);
	}
}

/*
 * Whether the answer next[k] of jump `j` leads to instruction `i` with no other question in between. The ways from there start
 * with the answer, so the other answer is closed.
 */
static bool answers(const struct code *code, const bool jumps[RACE_CODE_MAX], unsigned j, const int next[2], unsigned k,
		    unsigned i)
{
	int16_t closed[RACE_CODE_MAX];
	bool reached[RACE_CODE_MAX];

	memset(closed, 0xff, sizeof(closed));
	closed[j] = (int16_t)next[!k];
	ways(code, (int)j, closed, jumps, reached);
	return reached[i];
}

/* Whether instruction `j` is one of the jumps and can go two ways, which next[] becomes. */
static bool asks(const struct code *code, const bool jumps[RACE_CODE_MAX], unsigned j, int next[2])
{
	return jumps[j] && code_next(code, j, next) == 2 && next[0] != next[1];
}

bool turns_guarded(const struct turns_end *end, const bool jumps[RACE_CODE_MAX], int from, unsigned i)
{
	const struct code *code = &end->side->code;
	int16_t closed[RACE_CODE_MAX];
	bool reached[RACE_CODE_MAX];
	int next[2];

	/* Each jump is closed to the one answer that leads to the instruction. Where both do, the jump asks something else. */
	memset(closed, 0xff, sizeof(closed));
	for (unsigned j = 0; j < code->count; j++) {
		bool first, second;

		if (!asks(code, jumps, j, next))
			continue;
		first = answers(code, jumps, j, next, 0, i);
		second = answers(code, jumps, j, next, 1, i);
		if (first != second)
			closed[j] = (int16_t)next[second];
	}
	ways(code, from, closed, NULL, reached);
	return !reached[i];
}

/* Whether the flags that `jump` asks say that something of 8 bytes is 0: test of a register by itself, or cmp with 0. */
static bool asks_for_zero(const struct code *code, unsigned jump)
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

bool turns_guarded_by_zero(const struct turns_end *end, const bool jumps[RACE_CODE_MAX], bool zero, unsigned i)
{
	const struct code *code = &end->side->code;
	int16_t closed[RACE_CODE_MAX];
	bool reached[RACE_CODE_MAX];
	int next[2];

	memset(closed, 0xff, sizeof(closed));
	for (unsigned j = 0; j < code->count; j++) {
		int condition = code_condition(&code->insns[j].op);

		if (!asks(code, jumps, j, next) || !asks_for_zero(code, j))
			continue;
		if (condition == CODE_IF_ZERO || condition == CODE_IF_NOT_ZERO)
			closed[j] = (int16_t)next[(condition == CODE_IF_ZERO) == zero];
	}
	ways(code, WAYS_FROM_START, closed, NULL, reached);
	return !reached[i];
}

static bool is_function(const struct race_side *a, const struct race_side *b)
{
	return a->known && strcmp(a->symbol.name, b->symbol.name) == 0 && strcmp(a->symbol.module, b->symbol.module) == 0;
}

/* The index, in the side's own code, of the instruction that another race has of the same function, or -1. */
static int index_in(const struct view_side *s, const struct race_side *other)
{
	const struct code *code = &s->code;
	uint64_t at = other->pc - other->symbol.addr + s->side->symbol.addr - code->base;

	return other->pc && at < RACE_CODE_MAX ? code->index[at] : -1;
}

struct breach {
	const struct race *judged;
	const struct turns_end *end, *partner;
	bool data, other; /* A race of the data, and a race of the two functions that is at no word of theirs. */
};

static bool is_at_word(const struct turns_end *end, const struct race_side *side)
{
	int i = index_in(end->side, side);

	return i >= 0 && end->is_word[i];
}

static void note_breach(void *ctx, const struct race *race, unsigned which)
{
	struct breach *b = ctx;
	const struct race_side *side = &race->first.sides[which], *other = &race->first.sides[!which];
	int i = index_in(b->end->side, side);

	if (race == b->judged)
		return;
	if (i >= 0 && b->end->is_data[i])
		b->data = true;
	else if (is_function(other, b->partner->side->side) && !is_at_word(b->end, side) && !is_at_word(b->partner, other))
		b->other = true;
}

static struct breach breach_of(const struct view *v, const struct turns_end *a, const struct turns_end *b)
{
	struct breach breach = {.judged = v->race, .end = a, .partner = b};

	company_of_function(v->company, a->side->side, note_breach, &breach);
	breach.end = b;
	breach.partner = a;
	company_of_function(v->company, b->side->side, note_breach, &breach);
	return breach;
}

bool turns_data_raced(const struct view *v, const struct turns_end *a, const struct turns_end *b)
{
	return breach_of(v, a, b).data;
}

bool turns_broken(const struct view *v, const struct turns_end *a, const struct turns_end *b)
{
	struct breach breach = breach_of(v, a, b);

	return breach.data || breach.other;
}

struct stores {
	const struct race_side *writer; /* NULL: any function may store. */
	bool found;
};

static void note_stores(void *ctx, const struct race *race)
{
	struct stores *s = ctx;

	s->found |= race->rw[0] & race->rw[1] & INSN_WRITE;
	for (unsigned i = 0; i < 2 && s->writer; i++)
		s->found |= race->rw[i] & INSN_WRITE && !is_function(&race->first.sides[i], s->writer);
}

bool turns_other_writer(const struct view *v, uint64_t gva, const struct turns_end *writer)
{
	struct stores stores = {.writer = writer->side->side};

	company_at(v->company, v->race, gva, note_stores, &stores);
	return stores.found;
}

bool turns_two_stores(const struct view *v, uint64_t gva)
{
	struct stores stores = {0};

	company_at(v->company, v->race, gva, note_stores, &stores);
	return stores.found;
}

struct stored {
	const struct view_side *writer;
	const unsigned *at;
	unsigned count;
	bool found;
};

static void note_stored(void *ctx, const struct race *race, unsigned which)
{
	struct stored *s = ctx;
	int i = race->rw[0] & race->rw[1] & INSN_WRITE ? index_in(s->writer, &race->first.sides[which]) : -1;

	for (unsigned j = 0; j < s->count; j++)
		s->found |= i == (int)s->at[j];
}

bool turns_two_stores_by(const struct view *v, const struct view_side *writer, const unsigned at[], unsigned count)
{
	struct stored stored = {.writer = writer, .at = at, .count = count};

	company_of_function(v->company, writer->side, note_stored, &stored);
	return stored.found;
}

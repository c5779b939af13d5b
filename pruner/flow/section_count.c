// SPDX-License-Identifier: GPL-2.0-or-later
/* What registers and flags hold of a sequence count. */
#include "pruner/flow/calls.h"
#include "pruner/flow/section_walk.h"

#define COUNT_SIZE 4 /* bytes */

bool section_loads(const struct insn_op *op)
{
	return op->kind == INSN_OP_MOV && op->src.kind == INSN_OPERAND_MEM && op->dst.kind == INSN_OPERAND_REG &&
	       op->src.size == COUNT_SIZE && op->dst.size == COUNT_SIZE;
}

static bool compares_memory(const struct insn_op *op)
{
	return op->kind == INSN_OP_CMP && (op->dst.kind == INSN_OPERAND_MEM || op->src.kind == INSN_OPERAND_MEM) &&
	       (op->dst.kind == INSN_OPERAND_REG || op->src.kind == INSN_OPERAND_REG) && op->dst.size == COUNT_SIZE;
}

bool section_looks(const struct insn_op *op)
{
	return section_loads(op) || compares_memory(op);
}

static bool is_of_count(const struct walk *w, unsigned i)
{
	struct place place;

	return flow_place(&w->flow->states[i], &w->flow->code->insns[i].op, &place) && place_equal(&place, &w->count);
}

static void drop(struct way *way, uint16_t regs)
{
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (!(regs >> reg & 1))
			continue;
		way->gpr[reg].kind = SECTION_NOTHING;
		if (way->flags_reg == (int8_t)reg)
			way->flags_reg = SECTION_SEVERAL;
	}
}

static uint8_t held(const struct way *way, const struct insn_operand *operand)
{
	return operand->kind == INSN_OPERAND_REG && !operand->high ? way->gpr[operand->reg].kind : SECTION_NOTHING;
}

static bool is_immediate(const struct insn_op *op, uint64_t number)
{
	uint64_t mask = flow_bytes(op->dst.size);

	return op->src.kind == INSN_OPERAND_IMM && (op->imm & mask) == (number & mask);
}

static void set_flags(struct way *way, enum section_flags flags, int16_t load, int8_t reg)
{
	way->flags = flags;
	way->flags_load = load;
	way->flags_reg = reg;
}

/* All registers with the count of this load hold a start. */
static void start(struct way *way, int16_t load)
{
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (load >= 0 && way->gpr[reg].kind == SECTION_LOADED && way->gpr[reg].load == load)
			way->gpr[reg].kind = SECTION_START;
	}
}

/* "count & 1" is a question for the parity or the index of a copy, and "count & ~1" a start. */
static void mask(struct walk *w, struct way *way, const struct insn_op *op)
{
	uint8_t kind = held(way, &op->dst);
	int16_t load = way->gpr[op->dst.reg].load;
	bool begins = kind == SECTION_LOADED && !(way->phases & SECTION_INSIDE) && op->dst.size >= COUNT_SIZE;

	drop(way, op->writes);
	if (kind == SECTION_LOADED && is_immediate(op, 1)) {
		set_flags(way, SECTION_FLAGS_PARITY, load, SECTION_SEVERAL);
		if (!w->latch || !begins)
			return;
		way->gpr[op->dst.reg].kind = SECTION_INDEX;
		start(way, load);
	} else if (begins && !w->latch && is_immediate(op, ~1ull)) {
		w->clears_odd |= w->judging;
		way->gpr[op->dst.reg].kind = SECTION_START;
	}
}

/* The start against the count as it is now, in either order. */
static bool asks(const struct walk *w, const struct way *way, const struct insn_op *op, unsigned i, int16_t *load)
{
	uint8_t a = held(way, &op->dst), b = held(way, &op->src);

	*load = (int16_t)i;
	if (op->dst.size != COUNT_SIZE)
		return false;
	if (op->insn.nmem)
		return compares_memory(op) && is_of_count(w, i) && (a == SECTION_START || b == SECTION_START);
	if (a == SECTION_START && b == SECTION_LOADED)
		*load = way->gpr[op->src.reg].load;
	else if (b == SECTION_START && a == SECTION_LOADED)
		*load = way->gpr[op->dst.reg].load;
	else
		return false;
	return true;
}

static void note_flags(const struct walk *w, struct way *way, const struct insn_op *op, unsigned i)
{
	int16_t load;
	bool compares = op->kind == INSN_OP_CMP || op->kind == INSN_OP_SUB || op->kind == INSN_OP_XOR;

	if (compares && asks(w, way, op, i, &load))
		set_flags(way, SECTION_FLAGS_SAME, load, SECTION_SEVERAL);
	else if (op->kind == INSN_OP_TEST && held(way, &op->dst) == SECTION_LOADED && is_immediate(op, 1))
		set_flags(way, SECTION_FLAGS_PARITY, way->gpr[op->dst.reg].load, op->dst.reg);
	else if (op->sets_flags || op->kind == INSN_OP_CALL)
		set_flags(way, SECTION_FLAGS_ELSE, SECTION_SEVERAL, SECTION_SEVERAL);
}

/* Whether the instruction makes something of the index of a copy: a multiple, a sum, an address. */
static bool makes_index(const struct way *way, const struct insn_op *op)
{
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (op->reads >> reg & 1 && way->gpr[reg].kind == SECTION_INDEX)
			return !op->insn.nmem;
	}
	return false;
}

/* What the same instruction loaded in an earlier round is another count. */
static void forget_round(struct way *way, int16_t load)
{
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (way->gpr[reg].kind == SECTION_LOADED && way->gpr[reg].load == load)
			way->gpr[reg].kind = SECTION_NOTHING;
	}
	if (way->flags == SECTION_FLAGS_PARITY && way->flags_load == load)
		set_flags(way, SECTION_FLAGS_ELSE, SECTION_SEVERAL, SECTION_SEVERAL);
}

static void change(struct walk *w, struct way *way, const struct insn_op *op, unsigned i)
{
	bool index = makes_index(way, op);
	bool copies = op->kind == INSN_OP_MOV && op->src.kind == INSN_OPERAND_REG && op->dst.size >= COUNT_SIZE &&
		      op->src.size >= COUNT_SIZE;
	uint8_t kind = copies ? held(way, &op->src) : SECTION_NOTHING;
	int16_t load = copies ? way->gpr[op->src.reg].load : SECTION_SEVERAL;

	drop(way, op->writes);
	if (op->dst.kind != INSN_OPERAND_REG || op->dst.high || !(op->writes >> op->dst.reg & 1))
		return;
	if (section_loads(op) && is_of_count(w, i)) {
		forget_round(way, (int16_t)i);
		kind = SECTION_LOADED;
		load = (int16_t)i;
		if (w->of_count && way->phases & SECTION_AGAIN)
			way->phases = SECTION_OUTSIDE;
	} else if (index) {
		kind = SECTION_INDEX;
	}
	way->gpr[op->dst.reg].kind = kind;
	way->gpr[op->dst.reg].load = load;
}

/* What was loaded of the count before the data cannot show that the count is unchanged behind them. */
static void enter_section(struct walk *w, struct way *way)
{
	bool started = false;

	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		started |= way->gpr[reg].kind == SECTION_START;
		if (way->gpr[reg].kind == SECTION_LOADED)
			way->gpr[reg].kind = SECTION_NOTHING;
	}
	w->wrong |= w->judging && !started;
	way->phases = SECTION_INSIDE;
}

static bool is_indexed(const struct way *way, const struct insn *insn)
{
	int8_t base = insn->mem[0].base, index = insn->mem[0].index;

	return insn->nmem == 1 &&
	       ((base >= 0 && way->gpr[base].kind == SECTION_INDEX) || (index >= 0 && way->gpr[index].kind == SECTION_INDEX));
}

/* The count is for nothing but the question. A latch's bit 0 may be part of an address. */
static bool is_count_misused(const struct way *way, const struct insn_op *op)
{
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		uint8_t kind = way->gpr[reg].kind;

		if (kind != SECTION_LOADED && kind != SECTION_START)
			continue;
		for (unsigned m = 0; m < op->insn.nmem; m++) {
			if (op->insn.mem[m].base == (int8_t)reg || op->insn.mem[m].index == (int8_t)reg)
				return true;
		}
		if (op->insn.nmem && op->insn.mem[0].rw & INSN_WRITE && op->data >> reg & 1)
			return true;
		if (op->kind == INSN_OP_RET && reg == X86_RAX)
			return true;
	}
	return false;
}

void section_count(struct walk *w, struct way *way, unsigned i)
{
	const struct insn_op *op = &w->flow->code->insns[i].op;
	struct place place;
	bool writes = op->insn.nmem && op->insn.mem[0].rw & INSN_WRITE;

	if (w->judging && w->of_count && is_count_misused(way, op))
		w->wrong = true;
	/* Who changes the count is no reader. */
	if (w->judging && writes && flow_place(&w->flow->states[i], op, &place) && place_equal(&place, &w->count))
		w->wrong = true;
	if (!w->of_count && i == w->at) {
		w->wrong |= w->judging && w->latch && !is_indexed(way, &op->insn);
		enter_section(w, way);
	}
	note_flags(w, way, op, i);
	if (op->kind == INSN_OP_CALL)
		drop(way, (uint16_t)~FLOW_CALLEE_SAVED);
	else if (op->kind == INSN_OP_AND && op->dst.kind == INSN_OPERAND_REG && !op->dst.high &&
		 op->src.kind == INSN_OPERAND_IMM)
		mask(w, way, op);
	else
		change(w, way, op, i);
}

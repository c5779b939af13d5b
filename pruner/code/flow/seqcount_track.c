// SPDX-License-Identifier: GPL-2.0-or-later
/* Tracks which registers hold the count of a sequence count, and which test of the count set the flags. */
#include "pruner/code/flow/calls.h"
#include "pruner/code/flow/seqcount_paths.h"

/* Size of a sequence count in bytes: the field `sequence` of seqcount_t is an unsigned int. */
#define COUNT_SIZE 4

bool seqcount_loads(const struct insn_op *op)
{
	return op->kind == INSN_OP_MOV && op->src.kind == INSN_OPERAND_MEM && op->dst.kind == INSN_OPERAND_REG &&
	       op->src.size == COUNT_SIZE && op->dst.size == COUNT_SIZE;
}

static bool compares_memory(const struct insn_op *op)
{
	return op->kind == INSN_OP_CMP && (op->dst.kind == INSN_OPERAND_MEM || op->src.kind == INSN_OPERAND_MEM) &&
	       (op->dst.kind == INSN_OPERAND_REG || op->src.kind == INSN_OPERAND_REG) && op->dst.size == COUNT_SIZE;
}

bool seqcount_reads(const struct insn_op *op)
{
	return seqcount_loads(op) || compares_memory(op);
}

static bool is_of_count(const struct seqcount_walk *w, unsigned i)
{
	struct place place;

	return flow_place(&w->flow->states[i], &w->flow->code->insns[i].op, &place) && place_equal(&place, &w->count);
}

static void drop(struct path *path, uint16_t regs)
{
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (!(regs >> reg & 1))
			continue;
		path->gpr[reg].kind = SEQCOUNT_NOTHING;
		if (path->flags_reg == (int8_t)reg)
			path->flags_reg = SEQCOUNT_SEVERAL;
	}
}

static uint8_t held(const struct path *path, const struct insn_operand *operand)
{
	return operand->kind == INSN_OPERAND_REG && !operand->high ? path->gpr[operand->reg].kind : SEQCOUNT_NOTHING;
}

static bool is_immediate(const struct insn_op *op, uint64_t number)
{
	uint64_t mask = flow_bytes(op->dst.size);

	return op->src.kind == INSN_OPERAND_IMM && (op->imm & mask) == (number & mask);
}

static void set_flags(struct path *path, enum seqcount_flags flags, int16_t load, int8_t reg)
{
	path->flags = flags;
	path->flags_load = load;
	path->flags_reg = reg;
}

/*
 * Record that the count that instruction `load` loaded begins a section: registers with that count now hold a SEQCOUNT_START.
 */
static void start(struct path *path, int16_t load)
{
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (load >= 0 && path->gpr[reg].kind == SEQCOUNT_LOADED && path->gpr[reg].load == load)
			path->gpr[reg].kind = SEQCOUNT_START;
	}
}

/*
 * Track an AND with an immediate. "count & 1" tests whether the count is even, or selects the copy of a latch. "count & ~1" can
 * begin a section with any count, because an odd count then differs at the retry.
 */
static void mask(struct seqcount_walk *w, struct path *path, const struct insn_op *op)
{
	uint8_t kind = held(path, &op->dst);
	int16_t load = path->gpr[op->dst.reg].load;
	bool begins = kind == SEQCOUNT_LOADED && !(path->phases & SEQCOUNT_INSIDE) && op->dst.size >= COUNT_SIZE;

	drop(path, op->writes);
	if (kind == SEQCOUNT_LOADED && is_immediate(op, 1)) {
		set_flags(path, SEQCOUNT_FLAGS_PARITY, load, SEQCOUNT_SEVERAL);
		if (!w->latch || !begins)
			return;
		path->gpr[op->dst.reg].kind = SEQCOUNT_INDEX;
		start(path, load);
	} else if (begins && !w->latch && is_immediate(op, ~1ull)) {
		w->clears_odd |= w->judging;
		path->gpr[op->dst.reg].kind = SEQCOUNT_START;
	}
}

/*
 * Returns whether the instruction compares a SEQCOUNT_START with a count that was loaded later, or with the count in memory.
 * Sets *load to the instruction that loaded the later count.
 */
static bool compares_start(const struct seqcount_walk *w, const struct path *path, const struct insn_op *op, unsigned i,
			   int16_t *load)
{
	uint8_t a = held(path, &op->dst), b = held(path, &op->src);

	*load = (int16_t)i;
	if (op->dst.size != COUNT_SIZE)
		return false;
	if (op->insn.nmem)
		return compares_memory(op) && is_of_count(w, i) && (a == SEQCOUNT_START || b == SEQCOUNT_START);
	if (a == SEQCOUNT_START && b == SEQCOUNT_LOADED)
		*load = path->gpr[op->src.reg].load;
	else if (b == SEQCOUNT_START && a == SEQCOUNT_LOADED)
		*load = path->gpr[op->dst.reg].load;
	else
		return false;
	return true;
}

static void update_flags(const struct seqcount_walk *w, struct path *path, const struct insn_op *op, unsigned i)
{
	int16_t load;
	bool compares = op->kind == INSN_OP_CMP || op->kind == INSN_OP_SUB || op->kind == INSN_OP_XOR;

	if (compares && compares_start(w, path, op, i, &load))
		set_flags(path, SEQCOUNT_FLAGS_SAME, load, SEQCOUNT_SEVERAL);
	else if (op->kind == INSN_OP_TEST && held(path, &op->dst) == SEQCOUNT_LOADED && is_immediate(op, 1))
		set_flags(path, SEQCOUNT_FLAGS_PARITY, path->gpr[op->dst.reg].load, op->dst.reg);
	else if (op->sets_flags || op->kind == INSN_OP_CALL)
		set_flags(path, SEQCOUNT_FLAGS_ELSE, SEQCOUNT_SEVERAL, SEQCOUNT_SEVERAL);
}

/* Returns whether the instruction computes a number from a SEQCOUNT_INDEX: a multiple, a sum, an address. */
static bool makes_index(const struct path *path, const struct insn_op *op)
{
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (op->reads >> reg & 1 && path->gpr[reg].kind == SEQCOUNT_INDEX)
			return !op->insn.nmem;
	}
	return false;
}

/*
 * Instruction `load` loads the count again, in the next iteration of a loop. Registers with the count that was loaded in the
 * previous iteration hold an old count, which must not be compared: they become SEQCOUNT_NOTHING.
 */
static void forget_round(struct path *path, int16_t load)
{
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (path->gpr[reg].kind == SEQCOUNT_LOADED && path->gpr[reg].load == load)
			path->gpr[reg].kind = SEQCOUNT_NOTHING;
	}
	if (path->flags == SEQCOUNT_FLAGS_PARITY && path->flags_load == load)
		set_flags(path, SEQCOUNT_FLAGS_ELSE, SEQCOUNT_SEVERAL, SEQCOUNT_SEVERAL);
}

static void change(struct seqcount_walk *w, struct path *path, const struct insn_op *op, unsigned i)
{
	bool index = makes_index(path, op);
	bool copies = op->kind == INSN_OP_MOV && op->src.kind == INSN_OPERAND_REG && op->dst.size >= COUNT_SIZE &&
		      op->src.size >= COUNT_SIZE;
	uint8_t kind = copies ? held(path, &op->src) : SEQCOUNT_NOTHING;
	int16_t load = copies ? path->gpr[op->src.reg].load : SEQCOUNT_SEVERAL;

	drop(path, op->writes);
	if (op->dst.kind != INSN_OPERAND_REG || op->dst.high || !(op->writes >> op->dst.reg & 1))
		return;
	if (seqcount_loads(op) && is_of_count(w, i)) {
		forget_round(path, (int16_t)i);
		kind = SEQCOUNT_LOADED;
		load = (int16_t)i;
		if (w->of_count && path->phases & SEQCOUNT_RETRY)
			path->phases = SEQCOUNT_OUTSIDE;
	} else if (index) {
		kind = SEQCOUNT_INDEX;
	}
	path->gpr[op->dst.reg].kind = kind;
	path->gpr[op->dst.reg].load = load;
}

/*
 * Record that the path loads data. A count that was loaded before the data cannot show that the count was unchanged after the
 * data.
 */
static void enter_section(struct seqcount_walk *w, struct path *path)
{
	bool started = false;

	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		started |= path->gpr[reg].kind == SEQCOUNT_START;
		if (path->gpr[reg].kind == SEQCOUNT_LOADED)
			path->gpr[reg].kind = SEQCOUNT_NOTHING;
	}
	w->wrong |= w->judging && !started;
	path->phases = SEQCOUNT_INSIDE;
}

static bool is_indexed(const struct path *path, const struct insn *insn)
{
	int8_t base = insn->mem[0].base, index = insn->mem[0].index;

	return insn->nmem == 1 && ((base >= 0 && path->gpr[base].kind == SEQCOUNT_INDEX) ||
				   (index >= 0 && path->gpr[index].kind == SEQCOUNT_INDEX));
}

/*
 * Returns whether the reader uses the count for anything but the comparison. Only bit 0 of a latch's count may be part of an
 * address.
 */
static bool is_count_misused(const struct path *path, const struct insn_op *op)
{
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		uint8_t kind = path->gpr[reg].kind;

		if (kind != SEQCOUNT_LOADED && kind != SEQCOUNT_START)
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

void seqcount_track(struct seqcount_walk *w, struct path *path, unsigned i)
{
	const struct insn_op *op = &w->flow->code->insns[i].op;
	struct place place;
	bool writes = op->insn.nmem && op->insn.mem[0].rw & INSN_WRITE;

	if (w->judging && w->of_count && is_count_misused(path, op))
		w->wrong = true;
	/* Code that stores to the count is a writer, not a reader. */
	if (w->judging && writes && flow_place(&w->flow->states[i], op, &place) && place_equal(&place, &w->count))
		w->wrong = true;
	if (!w->of_count && i == w->at) {
		w->wrong |= w->judging && w->latch && !is_indexed(path, &op->insn);
		enter_section(w, path);
	}
	update_flags(w, path, op, i);
	if (op->kind == INSN_OP_CALL)
		drop(path, (uint16_t)~FLOW_CALLEE_SAVED);
	else if (op->kind == INSN_OP_AND && op->dst.kind == INSN_OPERAND_REG && !op->dst.high &&
		 op->src.kind == INSN_OPERAND_IMM)
		mask(w, path, op);
	else
		change(w, path, op, i);
}

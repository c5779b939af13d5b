// SPDX-License-Identifier: GPL-2.0-or-later
/* Pointers by where they came from: the value that they were made of, and how many bytes from it they point. */
#include "pruner/flow/flow.h"
#include "pruner/flow/internal.h"

/* A pointer is made of another one in a few steps at most. More of them are a loop. */
#define STEPS_MAX 16

static const struct flow_pointer unknown = {.root = FLOW_POINTER_UNKNOWN};

_Static_assert(FLOW_POINTER_UNKNOWN == FLOW_NOWHERE && FLOW_POINTER_FIXED == FLOW_ABSOLUTE, "one numbering of values");

static bool is_reached(const struct flow *flow, unsigned i)
{
	return !flow->failed && flow->states[i].reached;
}

int flow_source(const struct flow *flow, const struct flow_pointer *p)
{
	unsigned i = p->root > 0 ? (unsigned)(p->root - 1) / X86_GPRS : flow->code->count;

	return i < flow->code->count ? (int)i : -1;
}

/* Go one step back: *p was made by instruction `i` of another pointer and a number. Returns false when it was not. */
static bool step_back(const struct flow *flow, unsigned i, struct flow_pointer *p)
{
	const struct insn_op *op = &flow->code->insns[i].op;
	const struct state *before = &flow->states[i];

	if (op->dst.kind != INSN_OPERAND_REG || op->dst.size != 8 || op->dst.high)
		return false;
	if (op->kind == INSN_OP_MOV && op->src.kind == INSN_OPERAND_IMM) {
		*p = (struct flow_pointer){.root = FLOW_POINTER_FIXED, .disp = p->disp + (int64_t)op->imm};
		return true;
	}
	if (op->kind == INSN_OP_LEA && op->src.kind == INSN_OPERAND_REG) {
		*p = (struct flow_pointer){.root = before->gpr[op->src.reg].number, .disp = p->disp + (int64_t)op->imm};
		return true;
	}
	if ((op->kind == INSN_OP_ADD || op->kind == INSN_OP_SUB) && op->src.kind == INSN_OPERAND_IMM) {
		p->root = before->gpr[op->dst.reg].number;
		p->disp += op->kind == INSN_OP_ADD ? (int64_t)op->imm : -(int64_t)op->imm;
		return true;
	}
	return false;
}

static struct flow_pointer resolve(const struct flow *flow, int32_t number, int64_t disp)
{
	struct flow_pointer p = {.root = number, .disp = disp};

	for (unsigned steps = 0; steps < STEPS_MAX; steps++) {
		int i = flow_source(flow, &p);

		if (i < 0 || !step_back(flow, (unsigned)i, &p))
			return p.root == FLOW_POINTER_UNKNOWN ? unknown : p;
	}
	return unknown;
}

struct flow_pointer flow_register(const struct flow *flow, unsigned i, unsigned reg)
{
	return is_reached(flow, i) ? resolve(flow, flow->states[i].gpr[reg].number, 0) : unknown;
}

struct flow_pointer flow_loaded(const struct flow *flow, unsigned i)
{
	const struct insn_op *op = &flow->code->insns[i].op;

	if (!is_reached(flow, i) || op->kind != INSN_OP_MOV || op->src.kind != INSN_OPERAND_MEM || op->src.size != 8)
		return unknown;
	return (struct flow_pointer){.root = flow_number(i, (unsigned)op->dst.reg)};
}

struct flow_pointer flow_address(const struct flow *flow, unsigned i)
{
	struct place place;

	if (!is_reached(flow, i) || !flow_place(&flow->states[i], &flow->code->insns[i].op, &place))
		return unknown;
	return resolve(flow, place.base, place.disp);
}

struct flow_pointer flow_stored(const struct flow *flow, unsigned i)
{
	const struct insn_op *op = &flow->code->insns[i].op;

	if (!is_reached(flow, i) || op->kind != INSN_OP_MOV || op->dst.kind != INSN_OPERAND_MEM || op->dst.size != 8)
		return unknown;
	if (op->src.kind == INSN_OPERAND_IMM)
		return (struct flow_pointer){.root = FLOW_POINTER_FIXED, .disp = (int64_t)op->imm};
	return op->src.kind == INSN_OPERAND_REG ? flow_register(flow, i, (unsigned)op->src.reg) : unknown;
}

struct flow_pointer flow_exchanged(const struct flow *flow, unsigned i)
{
	const struct insn_op *op = &flow->code->insns[i].op;

	if (!is_reached(flow, i) || op->kind != INSN_OP_OTHER || !(op->insn.flags & INSN_LOCKED))
		return unknown;
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (op->writes == 1u << reg)
			return (struct flow_pointer){.root = flow_number(i, reg)};
	}
	return unknown;
}

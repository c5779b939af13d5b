// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the root of a pointer, which is the value that the pointer was computed from, and the pointer's offset from the root in
 * bytes.
 */
#include "pruner/code/flow/flow.h"
#include "pruner/code/flow/calls.h"
#include "pruner/code/flow/internal.h"

/*
 * Limits the search back from a pointer to its root. One step back costs 1. A join of paths costs 5, because the search then
 * follows each predecessor. A budget of 20 crosses at most 4 joins on one path.
 */
#define BUDGET 20
#define STEP_COST 1
#define JOIN_COST 5
#define PREDECESSORS_MAX 8

static const struct flow_pointer unknown = {.root = FLOW_POINTER_UNKNOWN};

_Static_assert(FLOW_POINTER_UNKNOWN == FLOW_NO_NUMBER && FLOW_POINTER_FIXED == FLOW_ABSOLUTE, "a root is a value number");

static bool is_reached(const struct flow *flow, unsigned i)
{
	return !flow->failed && flow->states[i].reached;
}

int flow_definition(const struct flow *flow, const struct flow_pointer *p)
{
	unsigned i = p->root > 0 ? (unsigned)(p->root - 1) / X86_GPRS : flow->code->count;

	return i < flow->code->count ? (int)i : -1;
}

static struct flow_pointer root_of(const struct flow *flow, unsigned i, unsigned reg, int64_t disp, unsigned budget);

/* Returns the pointer that is `disp` bytes after the value with this value number. */
static struct flow_pointer resolve(const struct flow *flow, int32_t value_number, int64_t disp, unsigned budget)
{
	const struct flow_pointer p = {.root = value_number, .disp = disp};
	int i = flow_definition(flow, &p);
	const struct insn_op *op = i < 0 ? NULL : &flow->code->insns[i].op;

	if (!op || op->dst.kind != INSN_OPERAND_REG || op->dst.size != 8 || op->dst.high)
		return p;
	if (op->kind == INSN_OP_MOV && op->src.kind == INSN_OPERAND_IMM)
		return (struct flow_pointer){.root = FLOW_POINTER_FIXED, .disp = disp + (int64_t)op->imm};
	if (budget < STEP_COST)
		return unknown;
	budget -= STEP_COST;
	if (op->kind == INSN_OP_LEA && op->src.kind == INSN_OPERAND_REG)
		return root_of(flow, (unsigned)i, (unsigned)op->src.reg, disp + (int64_t)op->imm, budget);
	if (op->kind == INSN_OP_ADD && op->src.kind == INSN_OPERAND_IMM)
		return root_of(flow, (unsigned)i, (unsigned)op->dst.reg, disp + (int64_t)op->imm, budget);
	if (op->kind == INSN_OP_SUB && op->src.kind == INSN_OPERAND_IMM)
		return root_of(flow, (unsigned)i, (unsigned)op->dst.reg, disp - (int64_t)op->imm, budget);
	return p;
}

/* Returns the pointer that is `disp` bytes after the value of register `reg` after instruction `i`. */
static struct flow_pointer root_after(const struct flow *flow, unsigned i, unsigned reg, int64_t disp, unsigned budget)
{
	const struct insn_op *op = &flow->code->insns[i].op;
	struct state after = flow->states[i];

	flow_transfer(&after, op, i);
	if (after.gpr[reg].value_number != FLOW_NO_NUMBER)
		return resolve(flow, after.gpr[reg].value_number, disp, budget);
	if (!(op->writes >> reg & 1))
		return root_of(flow, i, reg, disp, budget);
	if (op->kind == INSN_OP_MOV && op->dst.size == 8 && op->src.kind == INSN_OPERAND_REG && !op->src.high)
		return root_of(flow, i, (unsigned)op->src.reg, disp, budget);
	return unknown;
}

/*
 * Set predecessors[] to the instructions that may execute directly before instruction `i`. Returns their number. Only the
 * first PREDECESSORS_MAX are stored.
 */
static unsigned predecessors_of(const struct flow *flow, unsigned i, unsigned predecessors[PREDECESSORS_MAX])
{
	unsigned count = 0;
	int next[2];

	for (unsigned j = 0; j < flow->code->count; j++) {
		unsigned n = code_successors(flow->code, j, next);

		if (!is_reached(flow, j) || !n || (next[0] != (int)i && (n < 2 || next[1] != (int)i)))
			continue;
		if (count < PREDECESSORS_MAX)
			predecessors[count] = j;
		count++;
	}
	return count;
}

/*
 * Returns the pointer that is `disp` bytes after the value of register `reg` before instruction `i`. At a join of paths the
 * register may have no value number. If the pointers on all paths are the same, the result is that pointer. Otherwise the root
 * is a number made of the joining instruction and the register. Instruction 0, the first instruction of the code, always counts
 * as a join, because the code of the caller is one more predecessor of it.
 */
static struct flow_pointer root_of(const struct flow *flow, unsigned i, unsigned reg, int64_t disp, unsigned budget)
{
	const struct flow_pointer here = {.root = flow_value_number(2 * flow->code->count + i, reg), .disp = disp};
	struct flow_pointer all, one;
	unsigned predecessors[PREDECESSORS_MAX], count;

	if (flow->states[i].gpr[reg].value_number != FLOW_NO_NUMBER)
		return resolve(flow, flow->states[i].gpr[reg].value_number, disp, budget);
	count = predecessors_of(flow, i, predecessors);
	if (i == 0 || count == 0 || count > PREDECESSORS_MAX || (count > 1 && budget < JOIN_COST))
		return here;
	budget -= count > 1 ? JOIN_COST : 0;
	all = root_after(flow, predecessors[0], reg, disp, budget);
	for (unsigned k = 1; k < count; k++) {
		one = root_after(flow, predecessors[k], reg, disp, budget);
		if (one.root != all.root || one.disp != all.disp)
			return here;
	}
	return all.root == FLOW_POINTER_UNKNOWN && count > 1 ? here : all;
}

int flow_definition_or_join(const struct flow *flow, const struct flow_pointer *p)
{
	const unsigned count = flow->code->count;
	unsigned i = p->root > 0 ? (unsigned)(p->root - 1) / X86_GPRS : 2 * count;

	if (i < count)
		return (int)i;
	return i >= 2 * count && i < 3 * count && p->root > 0 ? (int)(i - 2 * count) : -1;
}

struct flow_pointer flow_register(const struct flow *flow, unsigned i, unsigned reg)
{
	return is_reached(flow, i) ? root_of(flow, i, reg, 0, BUDGET) : unknown;
}

bool flow_is_argument(const struct flow *flow, unsigned i, const struct flow_pointer *p)
{
	const enum insn_op_kind kind = flow->code->insns[i].op.kind;

	if ((kind != INSN_OP_CALL && kind != INSN_OP_JUMP) || p->root == FLOW_POINTER_UNKNOWN || p->root == FLOW_POINTER_FIXED)
		return false;
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (FLOW_ARGUMENTS >> reg & 1 && flow_register(flow, i, reg).root == p->root)
			return true;
	}
	return false;
}

struct flow_pointer flow_loaded(const struct flow *flow, unsigned i)
{
	const struct insn_op *op = &flow->code->insns[i].op;

	if (!is_reached(flow, i) || op->kind != INSN_OP_MOV || op->src.kind != INSN_OPERAND_MEM || op->src.size != 8)
		return unknown;
	return (struct flow_pointer){.root = flow_value_number(i, (unsigned)op->dst.reg)};
}

struct flow_pointer flow_address(const struct flow *flow, unsigned i)
{
	const struct insn_op *op = &flow->code->insns[i].op;
	const struct insn_mem *mem = &op->insn.mem[0];
	struct place place;

	if (!is_reached(flow, i))
		return unknown;
	if (flow_place(&flow->states[i], op, &place))
		return resolve(flow, place.base, place.disp, BUDGET);
	if (op->insn.nmem != 1 || mem->base < 0 || mem->base >= X86_GPRS || mem->index != INSN_REG_NONE || mem->addr32 ||
	    op->insn.flags & INSN_STRING)
		return unknown;
	return root_of(flow, i, (unsigned)mem->base, mem->disp, BUDGET);
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
			return (struct flow_pointer){.root = flow_value_number(i, reg)};
	}
	return unknown;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* What a reader does with the data of a section before the count is compared. */
#include "pruner/flow/calls.h"
#include "pruner/flow/section_walk.h"
#include "pruner/flow/ways.h"
#include "symbols/insn/flow.h"

static bool is_address_of(const struct insn_op *op, uint16_t regs)
{
	for (unsigned i = 0; i < op->insn.nmem; i++) {
		const struct insn_mem *mem = &op->insn.mem[i];

		if ((mem->base >= 0 && regs >> mem->base & 1) || (mem->index >= 0 && regs >> mem->index & 1))
			return true;
	}
	return false;
}

static bool writes_memory(const struct insn_op *op)
{
	return op->insn.nmem && (op->insn.mem[0].rw & INSN_WRITE || (op->insn.nmem > 1 && op->insn.mem[1].rw & INSN_WRITE));
}

/* Whether the instruction accesses the function's own stack, by RSP or by a pointer that was made of it. */
static bool is_on_stack(const struct walk *w, unsigned i)
{
	const struct insn *insn = &w->flow->code->insns[i].op.insn;
	struct flow_pointer where, stack;

	if (insn->nmem != 1 || insn->mem[0].index != INSN_REG_NONE)
		return false;
	if (insn->mem[0].base == X86_RSP)
		return true;
	where = flow_address(w->flow, i);
	stack = flow_register(w->flow, i, X86_RSP);
	return where.root != FLOW_POINTER_UNKNOWN && where.root != FLOW_POINTER_FIXED && where.root == stack.root;
}

/* div and idiv, which fault on a divisor that a half-done update may have left (SDM vol. 2, opcodes F6 and F7). */
static bool divides(const struct insn_op *op)
{
	const uint8_t *bytes = op->insn.bytes;
	unsigned at = 0;

	while (at + 2 < op->insn.len && (bytes[at] == 0x66 || bytes[at] == 0x67 || bytes[at] >> 4 == 4))
		at++;
	return op->kind == INSN_OP_OTHER && at + 1 < op->insn.len && (bytes[at] & 0xfe) == 0xf6 &&
	       (bytes[at + 1] >> 3 & 6) == 6;
}

/* Whether the place is below a pointer that the function's caller gave. */
static bool is_callers(const struct walk *w, unsigned i)
{
	const struct insn_mem *mem = &w->flow->code->insns[i].op.insn.mem[0];
	const struct state *state = &w->flow->states[i];

	if (w->flow->code->insns[i].op.insn.nmem != 1 || mem->base < 0 || mem->index != INSN_REG_NONE || mem->seg)
		return false;
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (FLOW_ARGUMENTS >> reg & 1 && state->gpr[mem->base].number == flow_number(w->flow->code->count, reg))
			return true;
	}
	return false;
}

static void store(struct walk *w, struct way *way, const struct insn_op *op, unsigned i, bool of_data)
{
	if (is_on_stack(w, i)) {
		way->on_stack |= of_data;
		return;
	}
	if (!w->judging || !(of_data || way->decided))
		return;
	if (is_callers(w, i) && !(op->insn.flags & INSN_LOCKED))
		w->hands_out = true;
	else
		w->wrong = true;
}

/*
 * Whether the instruction goes through a pointer, or by an index, that is made anew in each round. Behind a branch by data that
 * are worth nothing it may lead anywhere, as NULL behind a flag that says otherwise, or the end of an array behind a length.
 */
static bool goes_astray(const struct walk *w, unsigned i)
{
	const struct code *code = w->flow->code;
	struct flow_pointer where;
	bool again[RACE_CODE_MAX];
	int begin;

	if (!code->insns[i].op.insn.nmem || is_on_stack(w, i))
		return false;
	where = flow_address(w->flow, i);
	if (where.root == FLOW_POINTER_UNKNOWN)
		return true;
	begin = flow_begin(w->flow, &where);
	ways(code, (int)w->at, NULL, NULL, again);
	return begin >= 0 && again[begin];
}

/* What goes out of the function's sight, or may fault. */
static bool leaves(const struct way *way, const struct insn_op *op, bool of_data)
{
	bool jumps = op->kind == INSN_OP_JUMP || op->kind == INSN_OP_CALL;

	if (op->kind == INSN_OP_CALL && (way->data & FLOW_ARGUMENTS || way->on_stack || way->decided))
		return true;
	if (jumps && of_data)
		return true;
	if ((op->kind == INSN_OP_STOP || insn_is_ud2(&op->insn)) && way->decided)
		return true;
	if (of_data && divides(op))
		return true;
	/* An instruction that changes neither a register nor memory, but is not understood, changes something else. */
	if (op->kind == INSN_OP_OTHER && of_data && !op->writes && !op->sets_flags && !writes_memory(op))
		return true;
	return false;
}

/* Data that were found worth nothing must not be used, except that a register is overwritten. */
static bool uses_stale(const struct way *way, const struct insn_op *op)
{
	uint16_t reads = op->reads;

	if (op->kind == INSN_OP_NOP || flow_makes_zero(op))
		return false;
	if (op->kind == INSN_OP_CALL)
		reads |= FLOW_ARGUMENTS;
	if (op->kind == INSN_OP_RET)
		reads |= 1u << X86_RAX;
	return reads & way->stale;
}

static void judge(struct walk *w, struct way *way, unsigned i, bool of_data)
{
	const struct insn_op *op = &w->flow->code->insns[i].op;

	w->wrong |= uses_stale(way, op);
	if (!(way->phases & (SECTION_INSIDE | SECTION_AGAIN)))
		return;
	w->wrong |= is_address_of(op, way->data) || leaves(way, op, of_data) || op->kind == INSN_OP_RET ||
		    (way->decided && goes_astray(w, i));
}

/* What the instruction leaves in the registers that it writes. */
static void spread(struct way *way, const struct insn_op *op, bool of_data)
{
	uint16_t writes = op->writes & (uint16_t) ~(1u << X86_RSP);
	bool partly = op->dst.kind == INSN_OPERAND_REG && op->dst.size < 4;

	if (op->kind == INSN_OP_CALL) {
		way->data &= FLOW_CALLEE_SAVED;
		way->stale &= FLOW_CALLEE_SAVED;
		return;
	}
	if (of_data)
		way->data |= writes;
	else if (!partly)
		way->data &= (uint16_t)~writes;
	if (!partly)
		way->stale &= (uint16_t)~writes;
}

void section_use(struct walk *w, struct way *way, unsigned i)
{
	const struct insn_op *op = &w->flow->code->insns[i].op;
	bool loads_data = i == w->at && !w->of_count;
	bool flags_count = (op->reads_flags && op->kind != INSN_OP_JCC && way->flags_of_data);
	bool of_data = loads_data || flags_count || (op->reads & way->data && !flow_makes_zero(op)) ||
		       (way->on_stack && is_on_stack(w, i) && op->insn.mem[0].rw & INSN_READ) ||
		       (way->on_stack && op->kind == INSN_OP_POP);

	if (op->kind == INSN_OP_NOP && !insn_is_ud2(&op->insn))
		return;
	if (loads_data) {
		/* What an earlier round left on the stack is written again or is not looked at. */
		way->on_stack = way->on_stack && way->phases & SECTION_INSIDE;
		w->wrong |= w->judging && (op->kind == INSN_OP_CALL || op->kind == INSN_OP_JUMP || op->insn.nmem != 1 ||
					   op->insn.flags & INSN_STRING);
	}
	if (w->judging)
		judge(w, way, i, of_data);
	if (writes_memory(op) && way->phases & (SECTION_INSIDE | SECTION_AGAIN))
		store(w, way, op, i, op->data & way->data || flags_count || (loads_data && op->insn.nmem > 1));
	if (op->kind == INSN_OP_PUSH && of_data)
		way->on_stack = true;
	if (op->kind == INSN_OP_JCC)
		way->decided |= way->phases & (SECTION_INSIDE | SECTION_AGAIN) && (way->flags_of_data || op->reads & way->data);
	if (op->sets_flags)
		way->flags_of_data = of_data;
	spread(way, op, of_data);
}

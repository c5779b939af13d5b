// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks what a reader of a sequence count does with the data before it compares the counts. */
#include "pruner/code/flow/calls.h"
#include "pruner/code/flow/reachability.h"
#include "pruner/code/flow/seqcount_paths.h"
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

/* Returns whether the instruction accesses the function's own stack, by RSP or by a pointer that was computed from RSP. */
static bool is_on_stack(const struct seqcount_walk *w, unsigned i)
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

/*
 * Returns whether the instruction is div or idiv (SDM vol. 2, opcodes F6 and F7). A divisor from a half-done update can be 0,
 * and the division then faults.
 */
static bool divides(const struct insn_op *op)
{
	const uint8_t *bytes = op->insn.bytes;
	unsigned at = 0;

	while (at + 2 < op->insn.len && (bytes[at] == 0x66 || bytes[at] == 0x67 || bytes[at] >> 4 == 4))
		at++;
	return op->kind == INSN_OP_OTHER && at + 1 < op->insn.len && (bytes[at] & 0xfe) == 0xf6 &&
	       (bytes[at + 1] >> 3 & 6) == 6;
}

/* Returns whether the instruction accesses memory at an argument of the function plus a constant offset. */
static bool is_callers(const struct seqcount_walk *w, unsigned i)
{
	const struct insn_mem *mem = &w->flow->code->insns[i].op.insn.mem[0];
	const struct state *state = &w->flow->states[i];

	if (w->flow->code->insns[i].op.insn.nmem != 1 || mem->base < 0 || mem->index != INSN_REG_NONE || mem->seg)
		return false;
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (FLOW_ARGUMENTS >> reg & 1 &&
		    state->gpr[mem->base].value_number == flow_value_number(w->flow->code->count, reg))
			return true;
	}
	return false;
}

static void store(struct seqcount_walk *w, struct path *path, const struct insn_op *op, unsigned i, bool of_data)
{
	if (is_on_stack(w, i)) {
		path->on_stack |= of_data;
		return;
	}
	if (!w->judging || !(of_data || path->decided))
		return;
	if (is_callers(w, i) && !(op->insn.flags & INSN_LOCKED))
		w->stores_to_caller = true;
	else
		w->wrong = true;
}

/*
 * Returns whether the instruction follows a pointer or an index that the code loads again in each iteration of the reader's
 * loop. After a branch on data from a half-done update, such a pointer may be wrong: NULL although a flag says that the pointer
 * is set, or beyond the end of an array although the index is below a length.
 */
static bool may_stray(const struct seqcount_walk *w, unsigned i)
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
	begin = flow_definition_or_join(w->flow, &where);
	reachable(code, (int)w->at, NULL, NULL, again);
	return begin >= 0 && again[begin];
}

/* Returns whether the instruction passes data to code that is not analysed, or may fault because of the data's value. */
static bool leaves(const struct path *path, const struct insn_op *op, bool of_data)
{
	bool jumps = op->kind == INSN_OP_JUMP || op->kind == INSN_OP_CALL;

	if (op->kind == INSN_OP_CALL && (path->data & FLOW_ARGUMENTS || path->on_stack || path->decided))
		return true;
	if (jumps && of_data)
		return true;
	if ((op->kind == INSN_OP_STOP || insn_is_ud2(&op->insn)) && path->decided)
		return true;
	if (of_data && divides(op))
		return true;
	/*
	 * An instruction that the decoder does not understand, and that changes no register, flag or memory, changes some other
	 * state of the CPU. The data count as passed on to this state.
	 */
	if (op->kind == INSN_OP_OTHER && of_data && !op->writes && !op->sets_flags && !writes_memory(op))
		return true;
	return false;
}

/*
 * Returns whether the instruction uses data of an iteration that the reader discarded. An instruction that only overwrites a
 * register with such data is allowed.
 */
static bool uses_stale(const struct path *path, const struct insn_op *op)
{
	uint16_t reads = op->reads;

	if (op->kind == INSN_OP_NOP || flow_makes_zero(op))
		return false;
	if (op->kind == INSN_OP_CALL)
		reads |= FLOW_ARGUMENTS;
	if (op->kind == INSN_OP_RET)
		reads |= 1u << X86_RAX;
	return reads & path->stale;
}

static void judge(struct seqcount_walk *w, struct path *path, unsigned i, bool of_data)
{
	const struct insn_op *op = &w->flow->code->insns[i].op;

	w->wrong |= uses_stale(path, op);
	if (!(path->phases & (SEQCOUNT_INSIDE | SEQCOUNT_RETRY)))
		return;
	w->wrong |= is_address_of(op, path->data) || leaves(path, op, of_data) || op->kind == INSN_OP_RET ||
		    (path->decided && may_stray(w, i));
}

/* Update path->data and path->stale, the registers that hold data, to the state after the instruction. */
static void update_data(struct path *path, const struct insn_op *op, bool of_data)
{
	uint16_t writes = op->writes & (uint16_t) ~(1u << X86_RSP);
	bool partly = op->dst.kind == INSN_OPERAND_REG && op->dst.size < 4;

	if (op->kind == INSN_OP_CALL) {
		path->data &= FLOW_CALLEE_SAVED;
		path->stale &= FLOW_CALLEE_SAVED;
		return;
	}
	if (of_data)
		path->data |= writes;
	else if (!partly)
		path->data &= (uint16_t)~writes;
	if (!partly)
		path->stale &= (uint16_t)~writes;
}

void seqcount_use_data(struct seqcount_walk *w, struct path *path, unsigned i)
{
	const struct insn_op *op = &w->flow->code->insns[i].op;
	bool loads_data = i == w->at && !w->of_count;
	bool flags_count = (op->reads_flags && op->kind != INSN_OP_JCC && path->flags_of_data);
	bool of_data = loads_data || flags_count || (op->reads & path->data && !flow_makes_zero(op)) ||
		       (path->on_stack && is_on_stack(w, i) && op->insn.mem[0].rw & INSN_READ) ||
		       (path->on_stack && op->kind == INSN_OP_POP);

	if (op->kind == INSN_OP_NOP && !insn_is_ud2(&op->insn))
		return;
	if (loads_data) {
		/*
		 * A load of data outside the section starts a new iteration. The data that the previous iteration stored on the
		 * stack are not read again.
		 */
		path->on_stack = path->on_stack && path->phases & SEQCOUNT_INSIDE;
		w->wrong |= w->judging && (op->kind == INSN_OP_CALL || op->kind == INSN_OP_JUMP || op->insn.nmem != 1 ||
					   op->insn.flags & INSN_STRING);
	}
	if (w->judging)
		judge(w, path, i, of_data);
	if (writes_memory(op) && path->phases & (SEQCOUNT_INSIDE | SEQCOUNT_RETRY))
		store(w, path, op, i, op->data & path->data || flags_count || (loads_data && op->insn.nmem > 1));
	if (op->kind == INSN_OP_PUSH && of_data)
		path->on_stack = true;
	if (op->kind == INSN_OP_JCC)
		path->decided |=
			path->phases & (SEQCOUNT_INSIDE | SEQCOUNT_RETRY) && (path->flags_of_data || op->reads & path->data);
	if (op->sets_flags)
		path->flags_of_data = of_data;
	update_data(path, op, of_data);
}

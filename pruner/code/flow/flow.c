// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the state before each instruction: applies all instructions repeatedly until no state changes. Also finds what a store
 * changes in the memory that it stores to.
 */
#include <stdlib.h>

#include "pruner/code/flow/flow.h"
#include "pruner/code/flow/internal.h"

/*
 * The limit on passes over the code: 64 + 64. A pass that changes a register's value clears bits of its `must` or sets bits of
 * its `may` (struct value), and both have 64 bits. If the states still change after this many passes, the analysis has failed.
 */
#define ROUNDS_MAX 128

/*
 * Returns the state at the function's start, at the targets of a jump table, and at code that only unkept code enters. Each
 * register holds an unknown value with its own value number.
 */
static struct state entry_state(const struct code *code, unsigned i)
{
	struct state state = {.reached = true};

	for (unsigned reg = 0; reg < X86_GPRS; reg++)
		state.gpr[reg] = (struct value){.value_number = flow_value_number(code->count + i, reg), .may = ~0ull};
	return state;
}

static bool sweep(struct flow *flow)
{
	const struct code *code = flow->code;
	bool changed = false;
	int next[2];

	for (unsigned i = 0; i < code->count; i++) {
		struct state state = flow->states[i];
		unsigned n = code_successors(code, i, next);

		if (!state.reached)
			continue;
		flow_transfer(&state, &code->insns[i].op, i);
		for (unsigned j = 0; j < n; j++) {
			if (next[j] != CODE_OUTSIDE)
				changed |= flow_join(&flow->states[next[j]], &state);
		}
	}
	return changed;
}

/* Apply all instructions again and again, until no state changes. Returns false if a state still changes in pass ROUNDS_MAX. */
static bool settle(struct flow *flow)
{
	for (unsigned round = 0; round < ROUNDS_MAX; round++) {
		if (!sweep(flow))
			return true;
	}
	return false;
}

/*
 * Returns the first instruction that no path reaches, or code->count. A loop that only unkept code enters has such
 * instructions.
 */
static unsigned first_unreached(const struct flow *flow)
{
	unsigned i = 0;

	while (i < flow->code->count && flow->states[i].reached)
		i++;
	return i;
}

struct flow *flow_new(const struct code *code)
{
	struct flow *flow = calloc(1, sizeof(*flow) + code->count * sizeof(struct state));

	if (!flow)
		return NULL;
	flow->code = code;
	for (unsigned i = 0; i < code->count; i++) {
		if (i == 0 || !code->insns[i].has_predecessor)
			flow->states[i] = entry_state(code, i);
	}
	flow->failed = !settle(flow);
	for (unsigned i = first_unreached(flow); !flow->failed && i < code->count; i = first_unreached(flow)) {
		flow->states[i] = entry_state(code, i);
		flow->failed = !settle(flow);
	}
	return flow;
}

void flow_free(struct flow *flow)
{
	free(flow);
}

/*
 * Record in *out what a store of a register or an immediate writes. If the register was loaded from the memory that the store
 * writes, set out->merges.
 */
static void plain_store(const struct state *state, const struct insn_op *op, struct flow_write *out)
{
	struct value v = value_of(state, &op->src, op->imm);
	struct place place;

	out->constant = !v.loaded && v.may == v.must;
	out->value = v.must;
	if (!v.loaded || v.size < op->dst.size || !flow_place(state, op, &place) || !place_equal(&place, &v.from))
		return;
	out->merges = true;
	out->changed = v.changed;
	out->deltas = v.deltas;
}

/*
 * Record in *out what a read-modify-write instruction, such as "or $1,(%rdi)", writes. The result is as for a load, an
 * operation on the loaded value, and a store to the same memory.
 */
static void update(const struct state *state, const struct insn_op *op, struct flow_write *out)
{
	struct value there = {.loaded = true, .size = op->dst.size}, by = value_of(state, &op->src, op->imm), v;

	v = value_combine((enum insn_op_kind)op->kind, &there, &by, op->dst.size);
	if (!v.loaded)
		return;
	out->merges = true;
	out->changed = v.changed;
	out->deltas = v.deltas;
}

void flow_write(const struct flow *flow, unsigned i, struct flow_write *out)
{
	const struct insn_op *op = &flow->code->insns[i].op;
	const struct state *state = &flow->states[i];
	uint64_t all = flow_bytes(op->insn.nmem ? op->insn.mem[0].size : 8);

	*out = (struct flow_write){.changed = all, .deltas = FLOW_ELSE};
	if (flow->failed || !state->reached || op->dst.kind != INSN_OPERAND_MEM)
		return;
	if (op->kind == INSN_OP_MOV)
		plain_store(state, op, out);
	else if (op->kind >= INSN_OP_AND && op->kind <= INSN_OP_BTC)
		update(state, op, out);
	/* The kept code is not the whole function. Unkept code may jump to here with any value in the register. */
	if (op->src.kind != INSN_OPERAND_IMM && !flow->code->closed) {
		out->changed = all;
		out->deltas |= FLOW_ELSE;
		out->constant = false;
	}
	out->changed &= all;
	out->value &= all;
}

bool flow_same_place(const struct flow *flow, unsigned i, unsigned j)
{
	struct place a, b;

	return !flow->failed && flow->states[i].reached && flow->states[j].reached &&
	       flow_place(&flow->states[i], &flow->code->insns[i].op, &a) &&
	       flow_place(&flow->states[j], &flow->code->insns[j].op, &b) && place_equal(&a, &b);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the states before all instructions by repetition until they are stable, and what a store makes of its memory. */
#include <stdlib.h>

#include "pruner/flow/flow.h"
#include "pruner/flow/internal.h"

/*
 * The limit on how often an instruction is visited until its state is stable. A value can lose only a few more bits than this.
 */
#define ROUNDS_MAX 128

/*
 * The state where the code starts, behind a jump table, and where only code that was not kept leads to. Each register holds an
 * unknown value of its own.
 */
static struct state entry_state(const struct code *code, unsigned i)
{
	struct state state = {.reached = true};

	for (unsigned reg = 0; reg < X86_GPRS; reg++)
		state.gpr[reg] = (struct value){.number = flow_number(code->count + i, reg), .may = ~0ull};
	return state;
}

static bool sweep(struct flow *flow)
{
	const struct code *code = flow->code;
	bool changed = false;
	int next[2];

	for (unsigned i = 0; i < code->count; i++) {
		struct state state = flow->states[i];
		unsigned n = code_next(code, i, next);

		if (!state.reached)
			continue;
		flow_apply(&state, &code->insns[i].op, i);
		for (unsigned j = 0; j < n; j++) {
			if (next[j] != CODE_OUTSIDE)
				changed |= flow_join(&flow->states[next[j]], &state);
		}
	}
	return changed;
}

struct flow *flow_new(const struct code *code)
{
	struct flow *flow = calloc(1, sizeof(*flow) + code->count * sizeof(struct state));

	if (!flow)
		return NULL;
	flow->code = code;
	for (unsigned i = 0; i < code->count; i++) {
		if (i == 0 || !code->insns[i].entered)
			flow->states[i] = entry_state(code, i);
	}
	flow->failed = true;
	for (unsigned round = 0; round < ROUNDS_MAX && flow->failed; round++)
		flow->failed = sweep(flow);
	return flow;
}

void flow_free(struct flow *flow)
{
	free(flow);
}

/* A store of a register, which may hold what was loaded from the same place. */
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
	out->steps = v.steps;
}

/* An instruction that reads, changes and writes counts as a load and a store. */
static void update(const struct state *state, const struct insn_op *op, struct flow_write *out)
{
	struct value there = {.loaded = true, .size = op->dst.size}, by = value_of(state, &op->src, op->imm), v;

	v = value_combine((enum insn_op_kind)op->kind, &there, &by, op->dst.size);
	if (!v.loaded)
		return;
	out->merges = true;
	out->changed = v.changed;
	out->steps = v.steps;
}

void flow_write(const struct flow *flow, unsigned i, struct flow_write *out)
{
	const struct insn_op *op = &flow->code->insns[i].op;
	const struct state *state = &flow->states[i];
	uint64_t all = flow_bytes(op->insn.nmem ? op->insn.mem[0].size : 8);

	*out = (struct flow_write){.changed = all, .steps = FLOW_ELSE};
	if (flow->failed || !state->reached || op->dst.kind != INSN_OPERAND_MEM)
		return;
	if (op->kind == INSN_OP_MOV)
		plain_store(state, op, out);
	else if (op->kind >= INSN_OP_AND && op->kind <= INSN_OP_BTC)
		update(state, op, out);
	/* Code that was not kept may come back to here with any value in the register. */
	if (op->src.kind != INSN_OPERAND_IMM && !flow->code->closed) {
		out->changed = all;
		out->steps |= FLOW_ELSE;
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

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds out what the code does with a loaded value. The search follows the value forwards along all paths, register by
 * register.
 */
#include <stdlib.h>

#include "pruner/code/flow/flow.h"
#include "pruner/code/flow/parts.h"

#define STEPS_PER_INSN 64

static void propagate(struct follow *f, unsigned i, const struct parts *parts)
{
	int next[2];
	unsigned n = code_successors(f->flow->code, i, next);

	for (unsigned j = 0; j < n; j++) {
		if (next[j] == CODE_OUTSIDE) {
			f->out->used |= parts_bits(parts, UINT16_MAX);
			f->out->only_left |= parts_with_some(parts, UINT16_MAX) != 0;
			continue;
		}
		if ((parts->pushed || parts_with_some(parts, UINT16_MAX)) &&
		    parts_join(&f->parts[next[j]], parts, &f->out->used) && !f->parts[next[j]].queued) {
			f->parts[next[j]].queued = true;
			f->queue[f->queue_len++] = (unsigned)next[j];
		}
	}
}

static void follow(struct follow *f, const struct parts *start)
{
	unsigned left = STEPS_PER_INSN * f->flow->code->count;

	propagate(f, f->from, start);
	while (f->queue_len && left--) {
		unsigned i = f->queue[--f->queue_len];
		struct parts parts = f->parts[i];

		f->parts[i].queued = false;
		flow_step(f, &parts, i);
		propagate(f, i, &parts);
	}
	if (f->queue_len) {
		f->out->used = ~0ull;
		f->out->escapes = true;
	}
}

/* Set *out to what the loading instruction itself does with the value, if it does not load the value into a register. */
static void look(const struct code *code, unsigned i, struct flow_read *out)
{
	const struct insn_op *op = &code->insns[i].op;
	bool compares = op->kind == INSN_OP_TEST || op->kind == INSN_OP_CMP || op->kind == INSN_OP_BT;
	bool in_memory = op->dst.kind == INSN_OPERAND_MEM;

	out->tested = compares || flow_flags_are_read(code, i);
	out->escapes = !compares && !(in_memory && op->kind >= INSN_OP_AND && op->kind <= INSN_OP_BTC);
	if (!in_memory || op->src.kind != INSN_OPERAND_IMM)
		return;
	if (op->kind == INSN_OP_TEST)
		out->used &= op->imm;
	else if (op->kind == INSN_OP_BT)
		out->used = 1ull << (op->imm & (8 * op->dst.size - 1));
}

/*
 * Set *parts to the registers that hold the value after the load. Returns false when the load leaves the value in no register,
 * so that there is nothing to follow.
 */
static bool begin(struct follow *f, struct parts *parts)
{
	const struct insn_op *op = &f->flow->code->insns[f->from].op;

	if (op->kind == INSN_OP_PUSH) {
		f->out->shown = flow_pushed_to_show(f->flow->code, f->from);
		f->out->escapes = !f->out->shown;
		parts->pushed = true;
		return true;
	}
	if (op->src.kind != INSN_OPERAND_MEM || op->dst.kind != INSN_OPERAND_REG || op->dst.high || op->dst.reg == X86_RSP ||
	    op->kind == INSN_OP_TEST || op->kind == INSN_OP_CMP)
		return false;
	f->out->escapes = false;
	parts->gpr[op->dst.reg].mask = flow_bytes(op->src.size);
	if (op->kind == INSN_OP_MOV)
		f->out->used = 0;
	else /* The register's old content also decides the result, so all bits of the value stay marked as used. */
		parts->gpr[op->dst.reg].made = MADE;
	return true;
}

void flow_read(const struct flow *flow, unsigned i, struct flow_read *out)
{
	const struct insn_op *op = &flow->code->insns[i].op;
	uint64_t all = flow_bytes(op->insn.nmem ? op->insn.mem[0].size : 8);
	struct follow f = {.flow = flow, .from = i, .out = out};
	struct parts start = {.reached = true};
	bool left;

	*out = (struct flow_read){.used = all};
	look(flow->code, i, out);
	f.parts = calloc(flow->code->count, sizeof(*f.parts));
	f.queue = calloc(flow->code->count, sizeof(*f.queue));
	if (!flow->failed && f.parts && f.queue && begin(&f, &start)) {
		follow(&f, &start);
		out->used &= all;
		left = out->only_left;
		out->only_left = left && !out->escapes;
		out->escapes |= left;
	}
	free(f.parts);
	free(f.queue);
}

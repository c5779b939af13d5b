// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes one step along all paths through a reader of a sequence count, and joins two paths. */
#include "pruner/code/flow/seqcount_paths.h"

#include <string.h>

void seqcount_enter(struct path *path)
{
	*path = (struct path){
		.reached = true,
		.phases = SEQCOUNT_OUTSIDE,
		.flags_reg = SEQCOUNT_SEVERAL,
		.flags_load = SEQCOUNT_SEVERAL,
	};
}

static void join_flags(struct path *into, const struct path *from)
{
	if (into->flags != from->flags)
		into->flags = SEQCOUNT_FLAGS_ELSE;
	if (into->flags_reg != from->flags_reg)
		into->flags_reg = SEQCOUNT_SEVERAL;
	if (into->flags_load != from->flags_load)
		into->flags_load = SEQCOUNT_SEVERAL;
	into->flags_of_data |= from->flags_of_data;
}

static bool join(struct path *into, const struct path *from)
{
	struct path was = *into;

	if (!into->reached) {
		*into = *from;
		return true;
	}
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (into->gpr[reg].kind != from->gpr[reg].kind)
			into->gpr[reg].kind = SEQCOUNT_NOTHING;
		if (into->gpr[reg].load != from->gpr[reg].load)
			into->gpr[reg].load = SEQCOUNT_SEVERAL;
	}
	into->phases |= from->phases;
	into->data |= from->data;
	into->stale |= from->stale;
	into->on_stack |= from->on_stack;
	into->decided |= from->decided;
	join_flags(into, from);
	return memcmp(&was, into, sizeof(was)) != 0;
}

/*
 * Update a path on which a branch found the count to be even: the registers with that count now hold a SEQCOUNT_START. Once the
 * path has loaded data, a test comes too late and changes nothing.
 */
static void take_even(struct path *path)
{
	if (path->phases & SEQCOUNT_INSIDE)
		return;
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		bool tested =
			path->flags_reg == (int8_t)reg || (path->flags_load >= 0 && path->gpr[reg].load == path->flags_load);

		if (tested && path->gpr[reg].kind == SEQCOUNT_LOADED)
			path->gpr[reg].kind = SEQCOUNT_START;
	}
}

static void take_unchanged(struct seqcount_walk *w, struct path *path)
{
	if (!w->of_count && !(path->phases & SEQCOUNT_INSIDE))
		return;
	if (w->judging) {
		w->retry_found = true;
		w->retry_load = path->flags_load >= 0 ? (unsigned)path->flags_load : w->at;
	}
	path->phases = (uint8_t)((path->phases & ~SEQCOUNT_INSIDE) | SEQCOUNT_OUTSIDE);
	if (path->phases & SEQCOUNT_RETRY)
		return;
	path->data = 0;
	path->on_stack = path->decided = path->flags_of_data = false;
}

static void take_changed(const struct seqcount_walk *w, struct path *path)
{
	if (w->of_count)
		path->phases = SEQCOUNT_RETRY;
	if (!(path->phases & SEQCOUNT_INSIDE))
		return;
	path->phases = (uint8_t)((path->phases & ~SEQCOUNT_INSIDE) | SEQCOUNT_RETRY);
	path->stale |= path->data;
	path->data = 0;
	path->on_stack = path->decided = path->flags_of_data = false;
}

/* Update the path after a conditional jump that is taken (`jumps`) or not. */
static void take_branch(struct seqcount_walk *w, struct path *path, const struct insn_op *op, bool jumps)
{
	int when = code_condition(op);
	bool zero = jumps == (when == CODE_IF_ZERO);

	if (when != CODE_IF_ZERO && when != CODE_IF_NOT_ZERO)
		return;
	if (path->flags == SEQCOUNT_FLAGS_PARITY && zero && !w->latch)
		take_even(path);
	if (path->flags == SEQCOUNT_FLAGS_SAME && zero)
		take_unchanged(w, path);
	if (path->flags == SEQCOUNT_FLAGS_SAME && !zero)
		take_changed(w, path);
}

bool seqcount_step(struct seqcount_walk *w, unsigned i)
{
	const struct code *code = w->flow->code;
	const struct insn_op *op = &code->insns[i].op;
	struct path after = w->states[i];
	bool changed = false;
	int next[2];
	unsigned n = code_successors(code, i, next);

	seqcount_use_data(w, &after, i);
	seqcount_track(w, &after, i);
	/* On this path the function returns without a check that found the count unchanged. A correct reader would retry. */
	if (w->judging && op->kind == INSN_OP_RET && after.phases & (SEQCOUNT_INSIDE | SEQCOUNT_RETRY))
		w->wrong = true;
	for (unsigned j = 0; j < n; j++) {
		struct path path = after;

		if (op->kind == INSN_OP_JCC)
			take_branch(w, &path, op, j == 1);
		if (next[j] != CODE_OUTSIDE)
			changed |= join(&w->states[next[j]], &path);
		else if (w->judging && path.phases & (SEQCOUNT_INSIDE | SEQCOUNT_RETRY))
			w->wrong = true;
	}
	return changed;
}

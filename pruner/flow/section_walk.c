// SPDX-License-Identifier: GPL-2.0-or-later
/* One step on all ways through a reader of a sequence count, and what becomes of two ways that meet. */
#include "pruner/flow/section_walk.h"

#include <string.h>

void section_enter(struct way *way)
{
	*way = (struct way){
		.reached = true,
		.phases = SECTION_OUTSIDE,
		.flags_reg = SECTION_SEVERAL,
		.flags_load = SECTION_SEVERAL,
	};
}

static void join_flags(struct way *into, const struct way *from)
{
	if (into->flags != from->flags)
		into->flags = SECTION_FLAGS_ELSE;
	if (into->flags_reg != from->flags_reg)
		into->flags_reg = SECTION_SEVERAL;
	if (into->flags_load != from->flags_load)
		into->flags_load = SECTION_SEVERAL;
	into->flags_of_data |= from->flags_of_data;
}

static bool join(struct way *into, const struct way *from)
{
	struct way was = *into;

	if (!into->reached) {
		*into = *from;
		return true;
	}
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (into->gpr[reg].kind != from->gpr[reg].kind)
			into->gpr[reg].kind = SECTION_NOTHING;
		if (into->gpr[reg].load != from->gpr[reg].load)
			into->gpr[reg].load = SECTION_SEVERAL;
	}
	into->phases |= from->phases;
	into->data |= from->data;
	into->stale |= from->stale;
	into->on_stack |= from->on_stack;
	into->decided |= from->decided;
	join_flags(into, from);
	return memcmp(&was, into, sizeof(was)) != 0;
}

/* The count is even on this way: what was loaded of it may start a section, unless data were loaded before. */
static void found_even(struct way *way)
{
	if (way->phases & SECTION_INSIDE)
		return;
	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		bool tested = way->flags_reg == (int8_t)reg || (way->flags_load >= 0 && way->gpr[reg].load == way->flags_load);

		if (tested && way->gpr[reg].kind == SECTION_LOADED)
			way->gpr[reg].kind = SECTION_START;
	}
}

static void found_same(struct walk *w, struct way *way)
{
	if (!w->of_count && !(way->phases & SECTION_INSIDE))
		return;
	if (w->judging) {
		w->asked = true;
		w->asking = way->flags_load >= 0 ? (unsigned)way->flags_load : w->at;
	}
	way->phases = (uint8_t)((way->phases & ~SECTION_INSIDE) | SECTION_OUTSIDE);
	if (way->phases & SECTION_AGAIN)
		return;
	way->data = 0;
	way->on_stack = way->decided = way->flags_of_data = false;
}

static void found_changed(const struct walk *w, struct way *way)
{
	if (w->of_count)
		way->phases = SECTION_AGAIN;
	if (!(way->phases & SECTION_INSIDE))
		return;
	way->phases = (uint8_t)((way->phases & ~SECTION_INSIDE) | SECTION_AGAIN);
	way->stale |= way->data;
	way->data = 0;
	way->on_stack = way->decided = way->flags_of_data = false;
}

/* What the way that a conditional jump takes says of the count. */
static void take(struct walk *w, struct way *way, const struct insn_op *op, bool jumps)
{
	int when = code_condition(op);
	bool zero = jumps == (when == CODE_IF_ZERO);

	if (when != CODE_IF_ZERO && when != CODE_IF_NOT_ZERO)
		return;
	if (way->flags == SECTION_FLAGS_PARITY && zero && !w->latch)
		found_even(way);
	if (way->flags == SECTION_FLAGS_SAME && zero)
		found_same(w, way);
	if (way->flags == SECTION_FLAGS_SAME && !zero)
		found_changed(w, way);
}

bool section_step(struct walk *w, unsigned i)
{
	const struct code *code = w->flow->code;
	const struct insn_op *op = &code->insns[i].op;
	struct way after = w->states[i];
	bool changed = false;
	int next[2];
	unsigned n = code_next(code, i, next);

	section_use(w, &after, i);
	section_count(w, &after, i);
	/* A return with a count that was found changed gives up, and does not go back. */
	if (w->judging && op->kind == INSN_OP_RET && after.phases & (SECTION_INSIDE | SECTION_AGAIN))
		w->wrong = true;
	for (unsigned j = 0; j < n; j++) {
		struct way way = after;

		if (op->kind == INSN_OP_JCC)
			take(w, &way, op, j == 1);
		if (next[j] != CODE_OUTSIDE)
			changed |= join(&w->states[next[j]], &way);
		else if (w->judging && way.phases & (SECTION_INSIDE | SECTION_AGAIN))
			w->wrong = true;
	}
	return changed;
}

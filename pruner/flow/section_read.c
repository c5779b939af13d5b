// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reader's half of a sequence count. What registers hold of the count, and what they hold of the data that was loaded, is
 * followed on all ways through the function. A first run finds the states, and a second one judges what the code does in them.
 */
#include "pruner/flow/section_walk.h"

#include <stdlib.h>

/* A way gets only worse where ways meet, and there are few degrees of it. */
#define ROUNDS_MAX 128

static bool is_candidate(const struct flow *flow, unsigned i, struct place *out)
{
	const struct insn_op *op = &flow->code->insns[i].op;

	return flow->states[i].reached && section_loads(op) && flow_place(&flow->states[i], op, out) && !out->seg;
}

/* Whether an instruction before `i` loads the same place, so that the place was tried already. */
static bool was_tried(const struct flow *flow, unsigned i, const struct place *place)
{
	struct place other;

	for (unsigned j = 0; j < i; j++) {
		if (is_candidate(flow, j, &other) && place_equal(&other, place))
			return true;
	}
	return false;
}

static bool settle(struct walk *w)
{
	const struct code *code = w->flow->code;
	bool changed = true;

	for (unsigned i = 0; i < code->count; i++) {
		if (i == 0 || !code->insns[i].entered)
			section_enter(&w->states[i]);
	}
	for (unsigned round = 0; round < ROUNDS_MAX && changed; round++) {
		changed = false;
		for (unsigned i = 0; i < code->count; i++) {
			if (w->states[i].reached)
				changed |= section_step(w, i);
		}
	}
	return !changed;
}

static bool judge(struct walk *w)
{
	w->judging = true;
	for (unsigned i = 0; i < w->flow->code->count && !w->wrong; i++) {
		if (w->states[i].reached)
			section_step(w, i);
	}
	return !w->wrong && w->asked;
}

/* Try whether the count is at w->count. */
static bool try(struct walk *w, bool latch)
{
	struct walk fresh = {.flow = w->flow, .at = w->at, .of_count = w->of_count, .count = w->count, .latch = latch};

	fresh.states = calloc(w->flow->code->count, sizeof(*fresh.states));
	if (!fresh.states)
		return false;
	if (!settle(&fresh) || !judge(&fresh) || (!fresh.of_count && !fresh.states[fresh.at].reached)) {
		free(fresh.states);
		return false;
	}
	*w = fresh;
	return true;
}

/* Bit 0 of the count as it was loaded, by the register that holds it at the access. */
static bool parity(const struct walk *w, const struct flow_access *a, bool *odd)
{
	const struct way *way = &w->states[a->at];
	uint16_t written = w->flow->code->insns[a->at].op.insn.regs_written;

	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (way->gpr[reg].kind == SECTION_START && !(written >> reg & 1)) {
			*odd = a->regs->gpr[reg] & 1;
			return true;
		}
	}
	return false;
}

/* The load that begins, as the code is written: the last one before the access, or the first one at all. */
static unsigned beginning(const struct walk *w, unsigned at)
{
	struct place place;
	int found = -1;

	for (unsigned i = 0; i < w->flow->code->count && (found < 0 || i < at); i++) {
		if (is_candidate(w->flow, i, &place) && place_equal(&place, &w->count))
			found = (int)i;
	}
	return found < 0 ? at : (unsigned)found;
}

static bool fill(struct walk *w, const struct flow_access *a, unsigned load, struct section *out)
{
	*out = (struct section){
		.count = flow_gva(a, load),
		.before = beginning(w, w->of_count ? 1 : a->at),
		.behind = w->asking,
		.latch = w->latch,
		.hands_out = w->hands_out,
		.clears_odd = w->clears_odd,
		.of_count = w->of_count,
	};
	if (!out->count)
		return false;
	return !w->latch || w->of_count || parity(w, a, &out->odd);
}

static bool try_both(struct walk *w, const struct flow_access *a, unsigned load, struct section *out)
{
	struct walk begun = *w;
	bool found = false;

	for (unsigned latch = 0; latch < 2 && !found; latch++) {
		*w = begun;
		if (!try(w, latch))
			continue;
		found = fill(w, a, load, out);
		free(w->states);
	}
	return found;
}

bool section_of_reader(const struct flow_access *a, struct section *out)
{
	const struct flow *flow = a->flow;
	struct walk w = {.flow = flow, .at = a->at};
	struct place own, place;
	bool own_known;

	if (flow->failed || !flow->states[a->at].reached)
		return false;
	own_known = flow_place(&flow->states[a->at], &flow->code->insns[a->at].op, &own);
	if (own_known && !own.seg && section_looks(&flow->code->insns[a->at].op)) {
		w.of_count = true;
		w.count = own;
		if (try_both(&w, a, a->at, out))
			return true;
	}
	for (unsigned i = 0; i < flow->code->count; i++) {
		if (i == a->at || !is_candidate(flow, i, &place) || (own_known && place_equal(&own, &place)) ||
		    was_tried(flow, i, &place))
			continue;
		w = (struct walk){.flow = flow, .at = a->at, .count = place};
		if (try_both(&w, a, i, out))
			return true;
	}
	return false;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks whether code is a reader of a sequence count. The search follows the count and the loaded data through registers, on
 * all paths through the function. It first finds the states before all instructions. A last pass then checks each instruction
 * against its state.
 */
#include "pruner/code/flow/seqcount_paths.h"

#include <stdlib.h>

/*
 * The limit on passes over the code. At a join of paths, a state only loses knowledge about the count and only gains registers
 * with data, so the states stop changing. Few passes are usual; code that needs more than 128 is not taken for a section.
 */
#define ROUNDS_MAX 128

static bool is_candidate(const struct flow *flow, unsigned i, struct place *out)
{
	const struct insn_op *op = &flow->code->insns[i].op;

	return flow->states[i].reached && seqcount_loads(op) && flow_place(&flow->states[i], op, out) && !out->seg;
}

/*
 * Returns whether an instruction before `i` loads from `place`. If so, the search has already tried whether the word at `place`
 * is the count.
 */
static bool was_tried(const struct flow *flow, unsigned i, const struct place *place)
{
	struct place other;

	for (unsigned j = 0; j < i; j++) {
		if (is_candidate(flow, j, &other) && place_equal(&other, place))
			return true;
	}
	return false;
}

static bool find_states(struct seqcount_walk *w)
{
	const struct code *code = w->flow->code;
	bool changed = true;

	for (unsigned i = 0; i < code->count; i++) {
		if (i == 0 || !code->insns[i].has_predecessor)
			seqcount_enter(&w->states[i]);
	}
	for (unsigned round = 0; round < ROUNDS_MAX && changed; round++) {
		changed = false;
		for (unsigned i = 0; i < code->count; i++) {
			if (w->states[i].reached)
				changed |= seqcount_step(w, i);
		}
	}
	return !changed;
}

static bool judge(struct seqcount_walk *w)
{
	w->judging = true;
	for (unsigned i = 0; i < w->flow->code->count && !w->wrong; i++) {
		if (w->states[i].reached)
			seqcount_step(w, i);
	}
	return !w->wrong && w->retry_found;
}

/* Check whether the code is a reader of the count at w->count. If so, set *w to the result; the caller frees w->states. */
static bool try(struct seqcount_walk *w, bool latch)
{
	struct seqcount_walk fresh = {.flow = w->flow, .at = w->at, .of_count = w->of_count, .count = w->count, .latch = latch};

	fresh.states = calloc(w->flow->code->count, sizeof(*fresh.states));
	if (!fresh.states)
		return false;
	if (!find_states(&fresh) || !judge(&fresh) || (!fresh.of_count && !fresh.states[fresh.at].reached)) {
		free(fresh.states);
		return false;
	}
	*w = fresh;
	return true;
}

/* Set *odd to bit 0 of the count that began the section, from a register that held the count at the recorded access. */
static bool parity(const struct seqcount_walk *w, const struct flow_access *a, bool *odd)
{
	const struct path *path = &w->states[a->at];
	uint16_t written = w->flow->code->insns[a->at].op.insn.regs_written;

	for (unsigned reg = 0; reg < X86_GPRS; reg++) {
		if (path->gpr[reg].kind == SEQCOUNT_START && !(written >> reg & 1)) {
			*odd = a->regs->gpr[reg] & 1;
			return true;
		}
	}
	return false;
}

/*
 * Returns the load that begins the section. The result is only printed, so the choice is simple: the last load of the count
 * before the access in the order of the code, or else the first load of the count.
 */
static unsigned begin_load(const struct seqcount_walk *w, unsigned at)
{
	struct place place;
	int found = -1;

	for (unsigned i = 0; i < w->flow->code->count && (found < 0 || i < at); i++) {
		if (is_candidate(w->flow, i, &place) && place_equal(&place, &w->count))
			found = (int)i;
	}
	return found < 0 ? at : (unsigned)found;
}

static bool fill(struct seqcount_walk *w, const struct flow_access *a, unsigned load, struct seqcount_section *out)
{
	*out = (struct seqcount_section){
		.count = flow_gva(a, load),
		.begin = begin_load(w, w->of_count ? 1 : a->at),
		.end = w->retry_load,
		.latch = w->latch,
		.stores_to_caller = w->stores_to_caller,
		.clears_odd = w->clears_odd,
		.of_count = w->of_count,
	};
	if (!out->count)
		return false;
	return !w->latch || w->of_count || parity(w, a, &out->odd);
}

static bool try_both(struct seqcount_walk *w, const struct flow_access *a, unsigned load, struct seqcount_section *out)
{
	struct seqcount_walk initial = *w;
	bool found = false;

	for (unsigned latch = 0; latch < 2 && !found; latch++) {
		*w = initial;
		if (!try(w, latch))
			continue;
		found = fill(w, a, load, out);
		free(w->states);
	}
	return found;
}

bool seqcount_of_reader(const struct flow_access *a, struct seqcount_section *out)
{
	const struct flow *flow = a->flow;
	struct seqcount_walk w = {.flow = flow, .at = a->at};
	struct place own, place;
	bool own_known;

	if (flow->failed || !flow->states[a->at].reached)
		return false;
	own_known = flow_place(&flow->states[a->at], &flow->code->insns[a->at].op, &own);
	if (own_known && !own.seg && seqcount_reads(&flow->code->insns[a->at].op)) {
		w.of_count = true;
		w.count = own;
		if (try_both(&w, a, a->at, out))
			return true;
	}
	for (unsigned i = 0; i < flow->code->count; i++) {
		if (i == a->at || !is_candidate(flow, i, &place) || (own_known && place_equal(&own, &place)) ||
		    was_tried(flow, i, &place))
			continue;
		w = (struct seqcount_walk){.flow = flow, .at = a->at, .count = place};
		if (try_both(&w, a, i, out))
			return true;
	}
	return false;
}

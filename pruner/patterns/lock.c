// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds which locks a side holds. If the run followed locks (--locks), the recorded lockset has them. Otherwise the calls of
 * lock functions on the paths to the access show them. The second method misses a lock that a caller holds, except for a
 * spinlock, which turns preemption off.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pruner/patterns/lock.h"

/* Whether a lock is held at an instruction. The values are bits: a lock may be held on one path and free on another. */
enum { FREE = 1, HELD = 2 };

static uint8_t state_after_call(const struct view *v, const char *callee, uint8_t states)
{
	if (callee && rules_function(v->rules, LIST_UNLOCK, callee))
		return FREE;
	if (callee && rules_function(v->rules, LIST_LOCK, callee))
		return HELD;
	return states;
}

/*
 * Propagate the states along all paths until nothing changes. The two bits of an instruction are set and never cleared. Each
 * pass but the last sets at least one bit more, so the loop ends.
 */
static void propagate(const struct view *v, const struct view_side *s, uint8_t states[RACE_CODE_MAX])
{
	const struct code *code = &s->code;
	bool changed = true;
	int next[2];

	while (changed) {
		changed = false;
		for (unsigned i = 0; i < code->count; i++) {
			uint8_t after = states[i] ? state_after_call(v, code->insns[i].callee, states[i]) : 0;
			unsigned n = after ? code_successors(code, i, next) : 0;

			for (unsigned j = 0; j < n; j++) {
				if (next[j] == CODE_OUTSIDE || (states[next[j]] | after) == states[next[j]])
					continue;
				states[next[j]] |= after;
				changed = true;
			}
		}
	}
}

/*
 * Set the state at each instruction to which no kept instruction leads, for example an exception handler's landing pad: such
 * code is assumed to be entered without a lock.
 */
static void seed(const struct code *code, uint8_t states[RACE_CODE_MAX])
{
	for (unsigned i = 1; i < code->count; i++) {
		if (!code->insns[i].has_predecessor)
			states[i] = FREE;
	}
}

/*
 * Returns what the recorded lockset shows. If the lockset is empty but preemption or interrupts are off, a caller may hold a
 * spinlock that was not recorded: then the result is LOCK_UNKNOWN.
 */
static enum lock_held held_of_set(const struct race_side *side)
{
	const struct guest_context *context = &side->context;
	const struct lockset *set = &side->locks.set;

	for (unsigned i = 0; i < set->count; i++) {
		if (!set->held[i].maybe)
			return LOCK_HELD;
	}
	if (set->count || !side->locks.complete || !context->known)
		return LOCK_UNKNOWN;
	return context->kind == GUEST_TASK && (context->irqs_off || context->preempt_off) ? LOCK_UNKNOWN : LOCK_NONE;
}

/*
 * The bits of a preemption count that say how often preemption was turned off (include/linux/preempt.h). The next bits count
 * the softirqs that run and how often softirqs were turned off.
 */
#define PREEMPT_DEPTH 0xffu

#define CONTEXT_WHY_MAX 80

/*
 * Write which of interrupts, softirqs and preemption a task had off at its access: "has preemption off (preempt_count 0x1)". A
 * caller that holds a spinlock leaves this trace. Writes "" if the task had none of them off, or the context is no task.
 */
static void why_of_context(const struct guest_context *context, char out[CONTEXT_WHY_MAX])
{
	/* If local_bh_disable() alone turned preemption off, preempt_count has bits of softirqs, and its PREEMPT_DEPTH is 0. */
	bool softirqs = context->preempt_count && !(context->preempt_count & PREEMPT_DEPTH);
	const char *word = softirqs ? "softirqs" : "preemption";
	size_t used = 0;

	out[0] = '\0';
	if (!context->known || context->kind != GUEST_TASK)
		return;
	if (context->irqs_off)
		used = (size_t)snprintf(out, CONTEXT_WHY_MAX, "has interrupts %s", context->preempt_off ? "and " : "off");
	if (!context->preempt_off)
		return;
	used += (size_t)snprintf(out + used, CONTEXT_WHY_MAX - used, "%s%s off", used ? "" : "has ", word);
	if (context->preempt_count)
		snprintf(out + used, CONTEXT_WHY_MAX - used, " (preempt_count 0x%" PRIx32 ")", context->preempt_count);
}

/*
 * Returns the lock function that was called last before the access, by the order of the code; NULL if the code shows none. The
 * order of the code is the order of the calls, except where paths join.
 */
static const char *lock_called_before(const struct view *v, const struct view_side *s, const uint8_t states[RACE_CODE_MAX])
{
	const char *other = NULL;

	for (unsigned i = s->at; i-- > 0;) {
		const char *callee = s->code.insns[i].callee;

		if (states[i] && callee && state_after_call(v, callee, FREE) == HELD)
			return callee;
	}
	/* In a loop, the call that takes the lock may come after the access in the order of the code. */
	for (unsigned i = s->at + 1; i < s->code.count && !other; i++) {
		const char *callee = s->code.insns[i].callee;

		if (states[i] && callee && state_after_call(v, callee, FREE) == HELD)
			other = callee;
	}
	return other;
}

enum lock_held lock_held_at(const struct view *v, struct view_side *s)
{
	const struct guest_context *context = &s->side->context;
	const char *name = lock_held_name(s), *callee;
	char why[CONTEXT_WHY_MAX];
	uint8_t states[RACE_CODE_MAX] = {FREE};

	why_of_context(context, why);
	if (s->side->locks.known && (s->side->locks.set.count || s->side->locks.complete)) {
		if (name)
			snprintf(s->lock_why, sizeof(s->lock_why), "holds %s (--locks)", name);
		return held_of_set(s->side);
	}
	if (s->followed) {
		seed(&s->code, states);
		propagate(v, s, states);
	}
	/* The lock is surely held only if all paths are known: a path through unkept code may release the lock. */
	if (s->followed && states[s->at] == HELD && s->code.closed) {
		callee = lock_called_before(v, s, states);
		snprintf(s->lock_why, sizeof(s->lock_why), "called %s()%s%s", callee ? callee : "a lock function",
			 why[0] ? " and " : "", why);
		return LOCK_HELD;
	}
	if (why[0]) {
		snprintf(s->lock_why, sizeof(s->lock_why), "%s", why);
		return LOCK_HELD;
	}
	return s->followed && states[s->at] == FREE && s->code.whole && context->known && context->kind == GUEST_TASK
		       ? LOCK_NONE
		       : LOCK_UNKNOWN;
}

const char *lock_held_name(const struct view_side *s)
{
	const struct lockset *set = &s->side->locks.set;

	for (unsigned i = 0; i < set->count; i++) {
		if (!set->held[i].maybe)
			return s->side->locks.name[i];
	}
	return NULL;
}

bool lock_none_common(const struct view *v)
{
	const struct race_locks *a = &v->side[0].side->locks, *b = &v->side[1].side->locks;

	return a->complete && b->complete && lock_held_name(&v->side[0]) && lock_held_name(&v->side[1]) &&
	       !lockset_excludes(&a->set, &b->set);
}

bool lock_checked_again(const struct view *v, const struct view_side *s)
{
	uint8_t states[RACE_CODE_MAX] = {0};

	if (!s->followed || !s->code.closed)
		return false;
	states[s->at] = FREE;
	seed(&s->code, states);
	propagate(v, s, states);
	for (unsigned i = 0; i < s->code.count; i++) {
		const struct insn *insn = &s->code.insns[i].op.insn;

		if (i != s->at && states[i] == HELD && insn->nmem && insn->mem[0].rw & INSN_READ &&
		    flow_same_place(s->flow, s->at, i))
			return true;
	}
	return false;
}

const char *lock_called_after(const struct view *v, const struct view_side *s, enum list_kind kind)
{
	uint8_t states[RACE_CODE_MAX] = {0};

	if (!s->followed)
		return NULL;
	states[s->at] = FREE;
	propagate(v, s, states);
	for (unsigned i = 0; i < s->code.count; i++) {
		const char *callee = s->code.insns[i].callee;

		if (states[i] && callee && rules_function(v->rules, kind, callee))
			return callee;
	}
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Locks, as far as they were followed, or else a function's own code shows them. They are seen by calls of functions that take
 * and give back locks, on the ways to an access and behind it. A lock that a caller holds is not seen, except a spinlock, which
 * turns preemption off.
 */
#include <string.h>

#include "pruner/lock.h"

/* The states of locking in which a way may lead to an instruction. They are bits. */
enum { FREE = 1, HELD = 2 };

static uint8_t behind_call(const struct view *v, const char *callee, uint8_t states)
{
	if (callee && rules_function(v->rules, LIST_UNLOCK, callee))
		return FREE;
	if (callee && rules_function(v->rules, LIST_LOCK, callee))
		return HELD;
	return states;
}

/*
 * Spread the states until they do not change any more. This ends, since an instruction has two bits, which are only ever set.
 */
static void spread(const struct view *v, const struct view_side *s, uint8_t states[RACE_CODE_MAX])
{
	const struct code *code = &s->code;
	bool changed = true;
	int next[2];

	while (changed) {
		changed = false;
		for (unsigned i = 0; i < code->count; i++) {
			uint8_t after = states[i] ? behind_call(v, code->insns[i].callee, states[i]) : 0;
			unsigned n = after ? code_next(code, i, next) : 0;

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
 * No seen instruction may go on to some code, such as the handling of an exception. Such code counts as entered without a lock.
 */
static void seed(const struct code *code, uint8_t states[RACE_CODE_MAX])
{
	for (unsigned i = 1; i < code->count; i++) {
		if (!code->insns[i].entered)
			states[i] = FREE;
	}
}

/* The set is known. A caller whose locks were not followed may hold a spinlock, which turns preemption off. */
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

enum lock_held lock_held_at(const struct view *v, const struct view_side *s)
{
	const struct guest_context *context = &s->side->context;
	uint8_t states[RACE_CODE_MAX] = {FREE};

	if (s->side->locks.known && (s->side->locks.set.count || s->side->locks.complete))
		return held_of_set(s->side);
	if (context->known && context->kind == GUEST_TASK && (context->irqs_off || context->preempt_off))
		return LOCK_HELD;
	if (!s->followed)
		return LOCK_UNKNOWN;
	seed(&s->code, states);
	spread(v, s, states);
	/* On a way that is not known the lock may have been given back. */
	if (states[s->at] == HELD && s->code.closed)
		return LOCK_HELD;
	return states[s->at] == FREE && s->code.whole && context->known && context->kind == GUEST_TASK ? LOCK_NONE
												       : LOCK_UNKNOWN;
}

const char *lock_known(const struct view_side *s)
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

	return a->complete && b->complete && lock_known(&v->side[0]) && lock_known(&v->side[1]) &&
	       !lockset_excludes(&a->set, &b->set);
}

bool lock_then_again(const struct view *v, const struct view_side *s)
{
	uint8_t states[RACE_CODE_MAX] = {0};

	if (!s->followed || !s->code.closed)
		return false;
	states[s->at] = FREE;
	seed(&s->code, states);
	spread(v, s, states);
	for (unsigned i = 0; i < s->code.count; i++) {
		const struct insn *insn = &s->code.insns[i].op.insn;

		if (i != s->at && states[i] == HELD && insn->nmem && insn->mem[0].rw & INSN_READ &&
		    flow_same_place(s->flow, s->at, i))
			return true;
	}
	return false;
}

const char *lock_called_behind(const struct view *v, const struct view_side *s, enum list_kind kind)
{
	uint8_t states[RACE_CODE_MAX] = {0};

	if (!s->followed)
		return NULL;
	states[s->at] = FREE;
	spread(v, s, states);
	for (unsigned i = 0; i < s->code.count; i++) {
		const char *callee = s->code.insns[i].callee;

		if (states[i] && callee && rules_function(v->rules, kind, callee))
			return callee;
	}
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Follows what hands an object over without a lock: completions, work items, timers, kthreads and the like (handover.h). */

#include <string.h>

#include "hv/base/clock.h"
#include "hv/detect/core/state.h"
#include "hv/detect/locks/entries.h"
#include "hv/detect/locks/internal.h"
#include "hv/detect/locks/locks.h"
#include "hv/detect/locks/lock_known.h"
#include "hv/detect/locks/sections.h"
#include "hv/detect/steer/lock_order.h"

enum stop_where {
	STOP_SUBJECT, /* the CPU is in code of the subject */
	STOP_RETURN,  /* the CPU is at the hook after an acquiring call, which handover_acquired() handles */
	STOP_ENTRY,   /* the CPU is at the entry of a lock function, which another lock function may have called */
};

/* Fill in *stop. If the context is unknown, record that an event may be missing, and return false. */
static bool stop_of(struct locks *l, unsigned cpu, const struct x86_regs *regs, enum stop_where where,
		    struct handover_stop *stop)
{
	struct guest_context context;

	guest_context(l->d->guest, regs, &context);
	lock_load_stop(&l->load, cpu, &context, monotonic_ns());
	lock_seen(l, cpu, &context);
	if (where != STOP_RETURN)
		lock_see_returns(l, cpu, regs, &context, where != STOP_ENTRY);
	l->number++;
	if (!context.known) {
		lock_events_hole(&l->events, l->number);
		return false;
	}
	*stop = (struct handover_stop){.guest = l->d->guest,
				       .regs = regs,
				       .who = lock_who_is(cpu, &context),
				       .task = context.task,
				       .number = l->number};
	return true;
}

/* Returns the pointer at `offset` in the object at `gva`, or 0. */
static uint64_t pointer_in(const struct locks *l, uint64_t gva, int32_t offset)
{
	uint64_t pointer;

	return guest_read(l->d->guest, gva + (uint64_t)offset, &pointer, sizeof(pointer)) ? 0 : pointer;
}

/* Returns the GVA of the function that the kernel will call with the released object, or 0. */
static uint64_t callee_of(const struct locks *l, const struct lock_function *function, const struct x86_regs *regs,
			  uint64_t gva)
{
	const struct lock_function argument_of = {.arg = (uint8_t)function->calls_at};
	struct guest_symbol symbol;
	uint64_t callee;

	if (function->calls == LOCK_CALLS_ARGUMENT)
		return lock_argument(l, &argument_of, regs);
	if (function->calls != LOCK_CALLS_MEMBER)
		return 0;
	callee = pointer_in(l, gva, function->calls_at);
	if (function->calls_or_at && (guest_symbol_at(l->d->guest, callee, &symbol) || symbol.addr != callee))
		return pointer_in(l, gva, function->calls_or_at);
	return callee;
}

void lock_handed_over(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct known_lock_function *f,
		      bool entry)
{
	const struct lock_function *function = f->function;
	uint64_t gva = handover_object((enum handover_kind)function->kind, lock_argument(l, function, regs));
	struct handover_stop stop;
	struct lock_event event;

	if (!gva || !stop_of(l, cpu, regs, entry ? STOP_ENTRY : STOP_SUBJECT, &stop))
		return;
	if (function->op == LOCK_ACQUIRE) {
		sections_wait(&l->sections, &stop.who, stop.number);
		if (entry)
			handover_acquire_at_entry(&l->handover, &stop, function, gva);
		else if (!function->tested || lock_known_at(&l->results, regs->rip + X86_CALL_LEN))
			handover_acquire(&l->handover, &stop, function, gva, f->outside);
		return;
	}
	if (function->op == LOCK_STOP) {
		handover_stop(&l->handover, function, gva);
		return;
	}
	/*
	 * The new callback has no hooks yet, so the detector misses its hand-overs: no order is certain until
	 * locks_callbacks_followed().
	 */
	if (handover_release(&l->handover, &stop, function, gva, callee_of(l, function, regs, gva), &event))
		lock_events_hole(&l->events, UINT64_MAX);
	lock_events_add(&l->events, &event);
}

void lock_entered(struct locks *l, unsigned cpu, const struct x86_regs *regs, struct entry_hook *entry)
{
	const enum handover_kind kind = (enum handover_kind)entry->function->kind;
	const struct known_lock_function f = {.function = entry->function, .outside = true};
	uint64_t gva = handover_object(kind, lock_argument(l, entry->function, regs));

	if (handover_has(&l->handover, kind, gva))
		lock_handed_over(l, cpu, regs, &f, true);
	else
		entry->idle_stops++;
}

void lock_taken_over(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct lock_function *function)
{
	struct handover_stop stop;
	struct lock_event event;

	if (stop_of(l, cpu, regs, STOP_RETURN, &stop) && handover_acquired(&l->handover, &stop, function, &event))
		lock_events_add(&l->events, &event);
}

/*
 * Whether the CPU, at the start of a function, was called by one that makes serial calls. Other code may call the same function
 * without the lock, as snd_ctxfi's timer calls pointer().
 */
static bool called_serially(const struct locks *l, const struct x86_regs *regs)
{
	const struct known_lock_function *caller;
	struct guest_symbol symbol = {0};
	uint64_t back;

	if (guest_read(l->d->guest, regs->gpr[X86_RSP], &back, sizeof(back)) || guest_symbol_at(l->d->guest, back - 1, &symbol))
		return false;
	caller = lock_known_at(&l->known, symbol.addr);
	return caller && caller->function->op == LOCK_CALLER && caller->function->kind == HANDOVER_SERIAL;
}

void lock_callback_begins(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct lock_function *function)
{
	struct handover_stop stop;
	struct lock_event event;

	if (stop_of(l, cpu, regs, STOP_SUBJECT, &stop) && (function->kind != HANDOVER_SERIAL || called_serially(l, regs)) &&
	    handover_enter(&l->handover, &stop, function, &event))
		lock_events_add(&l->events, &event);
}

void lock_callback_ends(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct lock_function *function)
{
	struct handover_stop stop;
	struct lock_event event;

	if (stop_of(l, cpu, regs, STOP_SUBJECT, &stop) && handover_leave(&l->handover, &stop, function, &event))
		lock_events_add(&l->events, &event);
}

void locks_called_back(struct locks *l, const struct guest_symbol *caller, const struct guest_symbol *callee)
{
	bool same_module = strcmp(caller->module, callee->module) == 0;
	const struct known_lock_function *f;

	pthread_mutex_lock(&l->d->lock);
	f = lock_known_at(&l->known, caller->addr);
	if (f && f->function->kind == HANDOVER_SERIAL && same_module)
		f = NULL;
	/*
	 * The callback has no hooks yet, so the detector misses its hand-overs: no order is certain until
	 * locks_callbacks_followed().
	 */
	if (f && f->function->op == LOCK_CALLER && handover_learn(&l->handover, f->function, callee->addr))
		lock_events_hole(&l->events, UINT64_MAX);
	pthread_mutex_unlock(&l->d->lock);
}

const struct lock_function *locks_next_callback(struct locks *l, uint64_t *addr)
{
	const struct handover_callback *callback;
	const struct lock_function *function = NULL;

	pthread_mutex_lock(&l->d->lock);
	callback = handover_next_callback(&l->handover);
	if (callback) {
		*addr = callback->addr;
		function = callback->function;
	}
	pthread_mutex_unlock(&l->d->lock);
	return function;
}

void locks_callbacks_again(struct locks *l, uint64_t base, uint64_t size)
{
	pthread_mutex_lock(&l->d->lock);
	handover_callbacks_again(&l->handover, base, size);
	pthread_mutex_unlock(&l->d->lock);
}

int locks_expect_callback(struct locks *l, uint64_t addr, const struct lock_function *function, bool begins)
{
	const struct known_lock_function f = {.addr = addr, .function = function};
	int ret;

	pthread_mutex_lock(&l->d->lock);
	ret = lock_known_add(begins ? &l->begins : &l->ends, &f);
	l->entries.kinds |= 1u << function->kind;
	pthread_mutex_unlock(&l->d->lock);
	return ret;
}

struct entries *locks_entries(struct locks *l)
{
	return &l->entries;
}

const struct lock_function *locks_next_entry(struct locks *l, uint64_t *addr)
{
	const struct lock_function *function = NULL;

	pthread_mutex_lock(&l->d->lock);
	for (size_t i = 0; i < l->known.count && !function; i++) {
		struct known_lock_function *k = &l->known.list[i];

		if (k->entered || !entries_fit(k->function) || !(l->entries.kinds >> k->function->kind & 1))
			continue;
		k->entered = true;
		*addr = k->addr;
		function = k->function;
	}
	pthread_mutex_unlock(&l->d->lock);
	return function;
}

int locks_expect_entry(struct locks *l, uint64_t addr, const struct lock_function *function)
{
	int ret = -1;

	pthread_mutex_lock(&l->d->lock);
	if (l->entries.count < ENTRY_HOOKS_MAX) {
		l->entries.list[l->entries.count++] = (struct entry_hook){.addr = addr, .function = function};
		ret = 0;
	}
	pthread_mutex_unlock(&l->d->lock);
	return ret;
}

void locks_callbacks_followed(struct locks *l)
{
	pthread_mutex_lock(&l->d->lock);
	if (!l->load.rest_until_ns)
		lock_events_hole(&l->events, l->number + 1);
	pthread_mutex_unlock(&l->d->lock);
}

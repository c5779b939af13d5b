// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the lockset of each context up to date, and makes lock moments of accesses (locks.h). */

#include "hv/base/clock.h"
#include "hv/detect/core/capture.h"
#include "hv/detect/locks/internal.h"
#include "hv/detect/locks/lock_known.h"
#include "hv/detect/locks/lock_sets.h"
#include "hv/detect/locks/locks.h"
#include "hv/detect/locks/outside.h"
#include "hv/detect/locks/sections.h"
#include "hv/detect/steer/confirm.h"
#include "hv/detect/steer/lock_order.h"

/*
 * Each lock call that becomes a lock moment copies a stack. Budget of copies: 500/s on average, 50 in a burst. The last 25 of a
 * burst are kept for calls while other contexts are in critical sections: only such calls show which critical sections overlap.
 */
#define CAPTURES_A_SECOND 500u
#define CAPTURES_KEPT 25.0
#define NS_PER_SECOND 1000000000u
/* Flag bits in the owner word of a mutex (kernel/locking/mutex.c). */
#define OWNER_FLAGS 7u

bool lock_moment_pay(struct locks *l, uint64_t now, bool others)
{
	if (l->paid_ns)
		l->budget += (double)(now - l->paid_ns) / NS_PER_SECOND * CAPTURES_A_SECOND;
	if (l->budget > CAPTURES_AT_ONCE)
		l->budget = CAPTURES_AT_ONCE;
	l->paid_ns = now;
	if (l->budget < (others ? 1 : CAPTURES_KEPT + 1))
		return false;
	l->budget--;
	return true;
}

/*
 * Returns the number of the moment when the context took the latest lock that it surely holds, or 0 if it holds no such lock.
 */
static uint64_t last_taken(const struct lock_context *c)
{
	for (unsigned i = c->set.count; i-- > 0;) {
		if (!c->set.held[i].maybe)
			return c->taken[i];
	}
	return 0;
}

unsigned lock_other_contexts(const struct locks *l, const struct lock_context *own, uint64_t during[LOCK_DURING_MAX])
{
	unsigned n = 0;

	for (unsigned c = 0; c < l->d->target->caps.cpus && n < LOCK_DURING_MAX; c++) {
		if (l->d->hit.windows[c].open && l->window[c])
			during[n++] = l->window[c];
	}
	for (unsigned i = 0; i < LOCK_CONTEXTS_MAX && n < LOCK_DURING_MAX; i++) {
		const struct lock_context *c = &l->sets.contexts[i];

		if (c != own && last_taken(c))
			during[n++] = last_taken(c);
	}
	return n;
}

/*
 * Whether the lock word shows that the lock is free, or held by another task: then its release was missed, or it was never
 * taken.
 */
static bool is_lost(const struct locks *l, const struct held_lock *lock, const struct guest_context *context)
{
	uint64_t word = 0, owner = 0;

	switch (lock->kind) {
	case LOCK_SPIN:
	case LOCK_RWLOCK:
		return guest_read(l->d->guest, lock->gva, &word, 4) == 0 && !(uint32_t)word;
	case LOCK_MUTEX:
		if (guest_read(l->d->guest, lock->gva, &owner, sizeof(owner)))
			return false;
		return context->task && context->kind == GUEST_TASK ? (owner & ~(uint64_t)OWNER_FLAGS) != context->task
								    : !owner;
	case LOCK_RWSEM:
		return guest_read(l->d->guest, lock->gva, &word, sizeof(word)) == 0 && !word;
	default:
		return false;
	}
}

/* Store in *out the lockset of a context at an access, after dropping locks whose release was missed. */
static void get_held(struct locks *l, unsigned cpu, const struct guest_context *context, struct lockset *out)
{
	struct lock_context *c = lock_sets_find(&l->sets, cpu, context);

	for (unsigned i = c ? c->set.count : 0; i-- > 0;) {
		struct held_lock *lock = &c->set.held[i];

		if (is_lost(l, lock, context))
			lock_sets_drop(c, i);
		else if (lock->kind == LOCK_MUTEX && context->task)
			lock->maybe = false;
	}
	lock_sets_get(&l->sets, cpu, context, out);
	out->overflow |= monotonic_ns() < l->unsure_until_ns;
}

static bool has(const struct lockset *set, uint64_t gva)
{
	for (unsigned i = 0; i < set->count; i++) {
		if (set->held[i].gva == gva)
			return true;
	}
	return false;
}

static void add_outer(const struct locks *l, const struct guest_context *context, struct lockset *set)
{
	for (size_t i = 0; context->kind == GUEST_TASK && context->task && i < l->known.count; i++) {
		const struct known_lock_function *k = &l->known.list[i];

		if (k->function->op != LOCK_OUTER || has(set, k->addr) ||
		    !outside_owns(l->d->guest, k->addr, k->function->kind, context->task))
			continue;
		if (set->count == LOCKSET_MAX)
			set->overflow = true;
		else
			set->held[set->count++] = (struct held_lock){.gva = k->addr, .kind = k->function->kind};
	}
}

bool locks_held(struct locks *l, unsigned cpu, const struct guest_context *context, struct lockset *out)
{
	get_held(l, cpu, context, out);
	add_outer(l, context, out);
	if (!out->overflow)
		return true;
	*out = (struct lockset){0};
	return false;
}

struct raw_moment *lock_moment_put(struct locks *l, enum lock_moment_kind kind, uint64_t now)
{
	struct raw_moment *raw = lock_ring_put(&l->ring, kind);

	if (!raw) {
		l->d->stats.moments_lost++;
		return NULL;
	}
	raw->number = l->number;
	raw->time_ns = l->d->life.started_ns && now > l->d->life.started_ns ? now - l->d->life.started_ns : 0;
	pthread_cond_signal(&l->d->lock_moment);
	return raw;
}

/*
 * Returns the base register by which the instruction addresses the datum, or an all-zero struct. Finds the operand by its
 * address and not by its index, because window_data() leaves out some operands.
 */
static struct base_register base_of(const struct insn *insn, const struct x86_regs *regs, const struct datum *datum)
{
	struct mem_access accesses[INSN_MAX_MEM];
	unsigned n = insn->flags & INSN_STRING ? 0 : insn_accesses(insn, regs, accesses);

	for (unsigned i = 0; i < n; i++) {
		const struct insn_mem *mem = &insn->mem[i];

		if (accesses[i].gva == datum->access.gva && accesses[i].rw == datum->access.rw && !mem->seg && !mem->addr32 &&
		    mem->base >= 0 && mem->base != X86_RSP)
			return (struct base_register){regs->gpr[mem->base], (uint8_t)mem->base};
	}
	return (struct base_register){0};
}

/*
 * If the site belongs to a suspected pair that is to be confirmed (confirm.h), learn whether locks order this access after the
 * latest access at the pair's other site.
 */
static void confirm(struct locks *l, unsigned cpu, const struct guest_context *context, const struct raw_moment *raw,
		    uint64_t site)
{
	struct confirm_lock others[LOCKSET_MAX];
	unsigned n;

	if (!context->known || !confirm_has(l->d, site))
		return;
	for (unsigned i = 0; i < raw->data_count; i++) {
		struct lock_hit hit = {.number = l->number,
				       .gva = raw->data[i].gva,
				       .size = raw->data[i].size,
				       .rw = raw->data[i].rw,
				       .who = lock_who_is(cpu, context),
				       .held = raw->locks};

		n = confirm_locks(l->d, site, &hit, others);
		outside_look(l->d->guest, &l->sets, context, others, n, &hit);
		confirm_accessed(l->d, &l->events, site, &hit);
	}
}

void lock_see_returns(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct guest_context *context,
		      bool in_subject)
{
	struct lock_who who;
	struct lock_event event;

	if (!context->known)
		return;
	who = lock_who_is(cpu, context);
	while (handover_returned(&l->handover, &who, regs->gpr[X86_RSP], in_subject, &event)) {
		event.number = ++l->number;
		lock_events_add(&l->events, &event);
	}
}

void lock_seen(struct locks *l, unsigned cpu, const struct guest_context *context)
{
	lock_sets_seen(&l->sets, cpu, context);
	handover_seen(&l->handover, cpu, context);
}

/* If the access at `pc` is followed, begin to follow its datum, in each critical section that the context is in. */
static void follow_fate(struct locks *l, unsigned cpu, const struct guest_context *context, uint64_t pc,
			const struct lock_datum *datum)
{
	const struct lock_context *own = lock_sets_find(&l->sets, cpu, context);
	struct lock_who who;

	if (!context->known || !own)
		return;
	who = lock_who_is(cpu, context);
	for (unsigned i = 0; i < own->set.count; i++) {
		const struct held_lock *held = &own->set.held[i];

		if (!held->maybe)
			fates_access(&l->fates, &who, pc,
				     &(struct section_call){held->gva, held->taken_at, own->taken[i], held->shared}, datum->gva,
				     datum->size);
	}
}

void locks_access(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct insn *insn, const struct datum *data,
		  unsigned n)
{
	uint64_t now = monotonic_ns();
	struct guest_context context;
	struct raw_moment *raw;
	struct lock_who who;

	guest_context(l->d->guest, regs, &context);
	lock_seen(l, cpu, &context);
	lock_see_returns(l, cpu, regs, &context, true);
	l->number++;
	/*
	 * If this CPU has an open window, an interrupt on the CPU makes the access now, and l->window[cpu] stays the number of
	 * the held access.
	 */
	if (!l->d->hit.windows[cpu].open)
		l->window[cpu] = l->number;
	raw = lock_moment_put(l, LOCK_MOMENT_ACCESS, now);
	if (!raw)
		return;
	get_held(l, cpu, &context, &raw->locks);
	add_outer(l, &context, &raw->locks);
	if (context.known) {
		who = lock_who_is(cpu, &context);
		handover_add_callbacks(&l->handover, &who, regs->gpr[X86_RSP], &raw->locks);
	}
	for (unsigned i = 0; i < n; i++) {
		const struct datum *datum = &data[i];

		raw->data[raw->data_count++] = (struct lock_datum){.gva = datum->access.gva,
								   .gpa = datum->extents[0].gpa,
								   .size = datum->access.size,
								   .rw = datum->access.rw,
								   .base = base_of(insn, regs, datum)};
	}
	if (n == 1 && fates_has(&l->fates, regs->rip))
		follow_fate(l, cpu, &context, regs->rip, &raw->data[0]);
	confirm(l, cpu, &context, raw, regs->rip);
	raw->during_count = lock_other_contexts(l, lock_sets_find(&l->sets, cpu, &context), raw->during);
	capture_side(l->d->target, l->d->guest, cpu, regs, &context, &raw->side);
	raw->side.pc = regs->rip;
}

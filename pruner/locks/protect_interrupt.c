// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * If an interrupt takes a spinning lock, all other code must take this lock with that kind of interrupt off. Otherwise the
 * interrupt can come on the CPU that holds the lock, and then waits forever for the code that it interrupted.
 */
#include <stdio.h>

#include "pruner/locks/protect_interrupt.h"
#include "pruner/locks/protect_text.h"

#define RANK_BASE 40
#define RANK_SHARE 30

static bool spins(uint8_t kind)
{
	return kind == LOCK_SPIN || kind == LOCK_RWLOCK || kind == LOCK_SEQ || kind == LOCK_BIT;
}

/*
 * Returns whether the interrupt that takes a lock at `handler` can come on a CPU while the CPU holds the lock that it took at
 * `open`.
 */
static bool can_come(const struct prot_take *handler, const struct prot_take *open)
{
	if (handler->context <= open->context || handler->context == GUEST_NMI)
		return false;
	return handler->context == GUEST_SOFTIRQ ? !open->softirqs_off : !open->irqs_off;
}

static bool waits_for(const struct protection *p, const struct prot_take *handler, const struct prot_take *open)
{
	return handler->lock == open->lock && spins(p->locks[open->lock].kind) && !handler->tried &&
	       !(handler->shared && open->shared) && can_come(handler, open);
}

/*
 * Count how often code that the interrupt can interrupt took the lock: set s->total to this number, and s->held to the number
 * of times that the interrupt was off when the lock was taken.
 */
static void count(const struct protection *p, const struct prot_take *handler, struct suspicion *s)
{
	for (uint32_t i = 0; i < p->take_count; i++) {
		const struct prot_take *t = &p->takes[i];

		if (t->context >= handler->context || !protect_same_lock(p, t->lock, s->lock))
			continue;
		s->total += t->count;
		if (!can_come(handler, t))
			s->held += t->count;
	}
}

bool protect_interrupt(const struct protection *p, uint32_t take, struct suspicion *s)
{
	const struct prot_take *open = &p->takes[take], *handler = NULL;

	if (open->irqs_off && open->softirqs_off)
		return false;
	for (uint32_t i = 0; i < p->take_count; i++) {
		const struct prot_take *t = &p->takes[i];

		if (waits_for(p, t, open) && (!handler || t->count > handler->count))
			handler = t;
	}
	if (!handler)
		return false;
	*s = (struct suspicion){.kind = SUSPICION_INTERRUPT,
				.side = {take, (uint32_t)(handler - p->takes)},
				.lock = open->lock,
				.concurrent = open->operation != PROTECTION_NONE && handler->operation != PROTECTION_NONE &&
					      protection_concurrent(p, open->operation, handler->operation)};
	count(p, handler, s);
	race_id(open->site, handler->site, s->id);
	s->rank = RANK_BASE + protect_share(s->held, s->total, RANK_SHARE);
	return true;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides whether locks order two accesses (lock_order.h), from the recorded lock operations between the accesses. */
#include "hv/detect/steer/lock_order.h"

#define LOCKS_MAX 32u

/*
 * State of the search back in time from the second access: the contexts whose earlier lock operations happen before that
 * access.
 */
struct before {
	struct lock_who_set contexts;
	/* Locks that these contexts took before the second access. `shared`: taken only as a reader. */
	struct {
		uint64_t gva;
		bool shared;
	} lock[LOCKS_MAX];
	unsigned lock_count;
	/* The list of locks overflowed, so the order is unknown. */
	bool full;
};

void lock_events_add(struct lock_events *e, const struct lock_event *event)
{
	e->list[e->count++ % LOCK_EVENTS_KEPT] = *event;
}

void lock_events_hole(struct lock_events *e, uint64_t number)
{
	e->hole = number;
}

static void add_lock(struct before *b, uint64_t gva, bool shared)
{
	for (unsigned i = 0; i < b->lock_count; i++) {
		if (b->lock[i].gva == gva) {
			b->lock[i].shared &= shared;
			return;
		}
	}
	if (b->lock_count == LOCKS_MAX) {
		b->full = true;
		return;
	}
	b->lock[b->lock_count].gva = gva;
	b->lock[b->lock_count++].shared = shared;
}

/*
 * Whether this event releases a lock that a context in `b` took later, and could not have taken without this release. Two
 * readers can hold a lock together, so a reader does not wait for a reader's release.
 */
static bool lets_in(const struct before *b, const struct lock_event *event)
{
	for (unsigned i = 0; event->give && i < b->lock_count; i++) {
		if (b->lock[i].gva == event->gva)
			return !(event->shared && b->lock[i].shared);
	}
	return false;
}

static void begin(struct before *b, const struct lock_hit *second)
{
	*b = (struct before){.contexts = {.who = {second->who}, .count = 1}};
	for (unsigned i = 0; i < second->held.count; i++)
		add_lock(b, second->held.held[i].gva, second->held.held[i].shared);
}

enum lock_order lock_order(const struct lock_events *e, const struct lock_hit *first, const struct lock_hit *second)
{
	uint64_t kept = e->count < LOCK_EVENTS_KEPT ? e->count : LOCK_EVENTS_KEPT;
	struct before b;

	if (second->held.overflow || first->number < e->hole)
		return LOCK_ORDER_UNKNOWN;
	begin(&b, second);
	for (uint64_t i = 0; i < kept; i++) {
		const struct lock_event *event = &e->list[(e->count - 1 - i) % LOCK_EVENTS_KEPT];

		if (event->number <= first->number)
			goto out;
		if (event->number >= second->number)
			continue;
		lock_who_set_drop_interrupts(&b.contexts, &event->who);
		if (event->handover)
			continue;
		/*
		 * Add the lock even if this event is its release: the context took the lock before. So an earlier release of
		 * the lock by another context happens before the second access, too.
		 */
		if (lock_who_set_has(&b.contexts, &event->who))
			add_lock(&b, event->gva, event->shared);
		else if (lets_in(&b, event))
			lock_who_set_add(&b.contexts, &event->who);
	}
	if (e->count > LOCK_EVENTS_KEPT)
		return LOCK_ORDER_UNKNOWN;
out:
	if (b.full || b.contexts.full)
		return LOCK_ORDER_UNKNOWN;
	return lock_who_set_has(&b.contexts, &first->who) ? LOCK_ORDER_LOCKS : LOCK_ORDER_NONE;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Locks that are taken outside of the subject (outside.h). */
#include "hv/detect/locks/outside.h"

/*
 * Bits of the owner word of a mutex or rwsem: all flags, and the flag of a reader. Below: the offset of the owner word in an
 * rwsem, in bytes.
 */
#define OWNER_FLAGS 7u
#define OWNER_READS 1u
#define RWSEM_OWNER 8u
/* The byte of a queued spinlock that is not 0 while the lock is taken. The other bytes belong to its waiters. */
#define LOCKED_BYTE 0xffu

enum outside { OUTSIDE_UNKNOWN, OUTSIDE_FREE, OUTSIDE_HELD };

bool outside_owns(const struct guest *guest, uint64_t gva, enum lock_kind kind, uint64_t task)
{
	uint64_t owner;

	if (guest_read(guest, gva + (kind == LOCK_RWSEM ? RWSEM_OWNER : 0), &owner, sizeof(owner)))
		return false;
	return (kind != LOCK_RWSEM || !(owner & OWNER_READS)) && (owner & ~(uint64_t)OWNER_FLAGS) == task;
}

/*
 * Tells who holds a spinlock whose word says that it is locked. OUTSIDE_HELD: no context of the subject holds the lock, so the
 * access counts as made under the lock (outside.h). OUTSIDE_FREE: another context of the subject surely holds the lock, so this
 * access is made without it. A context surely holds the lock if an access under the lock was seen after the call that takes it.
 * OUTSIDE_UNKNOWN: a context of the subject has called, but may still wait for the lock, or some locksets are not complete.
 */
static enum outside holder(const struct lock_sets *sets, const struct confirm_lock *lock)
{
	for (unsigned i = 0; i < LOCK_CONTEXTS_MAX; i++) {
		const struct lock_context *c = &sets->contexts[i];

		for (unsigned k = 0; k < c->set.count; k++) {
			if (c->set.held[k].gva == lock->lock.gva)
				return c->taken[k] < lock->number ? OUTSIDE_FREE : OUTSIDE_UNKNOWN;
		}
		if (c->beyond)
			return OUTSIDE_UNKNOWN;
	}
	return sets->incomplete ? OUTSIDE_UNKNOWN : OUTSIDE_HELD;
}

static enum outside look(const struct guest *guest, const struct lock_sets *sets, const struct guest_context *context,
			 const struct confirm_lock *lock)
{
	uint32_t word;

	switch (lock->lock.kind) {
	case LOCK_SPIN:
		if (guest_read(guest, lock->lock.gva, &word, sizeof(word)))
			return OUTSIDE_UNKNOWN;
		return word & LOCKED_BYTE ? holder(sets, lock) : OUTSIDE_FREE;
	case LOCK_MUTEX:
	case LOCK_RWSEM:
		if (context->kind != GUEST_TASK || !context->task)
			return OUTSIDE_FREE;
		return outside_owns(guest, lock->lock.gva, lock->lock.kind, context->task) ? OUTSIDE_HELD : OUTSIDE_FREE;
	default:
		return OUTSIDE_FREE;
	}
}

static void add(struct lockset *set, const struct held_lock *lock)
{
	if (set->count == LOCKSET_MAX) {
		set->overflow = true;
		return;
	}
	set->held[set->count] = *lock;
	/* No call was seen. */
	set->held[set->count++].taken_at = 0;
}

void outside_look(const struct guest *guest, const struct lock_sets *sets, const struct guest_context *context,
		  const struct confirm_lock *locks, unsigned n, struct lock_hit *hit)
{
	for (unsigned i = 0; i < n; i++) {
		enum outside found = look(guest, sets, context, &locks[i]);

		if (found != OUTSIDE_UNKNOWN)
			add(found == OUTSIDE_HELD ? &hit->held : &hit->free, &locks[i].lock);
	}
}

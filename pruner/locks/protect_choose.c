// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Of all locks that one side holds, chooses the lock that is held in most accesses to the datum. The programmer most likely
 * protects the datum by this lock.
 */
#include "pruner/locks/protect_choose.h"

#include "pruner/locks/protect_pair.h"

static const struct prot_access *access_at(const struct protect_ordered *o, uint32_t at)
{
	return &o->p->accesses[o->index[at]];
}

/*
 * Returns whether the access surely holds `lock` or, if `lock` is a member of an object, the same member of another object of
 * that type.
 */
static bool covered(const struct protection *p, const struct prot_access *a, uint32_t lock)
{
	for (unsigned i = 0; i < a->held_count; i++) {
		if (suspicion_covers(&a->held[i], a) && protect_same_lock(p, a->held[i].lock, lock))
			return true;
	}
	return false;
}

/*
 * Set s->total to the number of accesses to the bytes of the two sides, and s->held to the number of these that hold the lock.
 * Objects of one kind are counted together. Accesses before an object was published are not counted.
 */
static void count(const struct protect_ordered *o, const uint32_t at[2], uint32_t lock, struct suspicion *s)
{
	const struct prot_access *a = access_at(o, at[0]), *b = access_at(o, at[1]);
	uint32_t from = at[0], to = at[0];

	while (from && protect_same_member(access_at(o, from - 1), a))
		from--;
	while (to + 1 < o->count && protect_same_member(access_at(o, to + 1), a))
		to++;
	s->held = s->total = 0;
	for (uint32_t i = from; i <= to; i++) {
		const struct prot_access *x = access_at(o, i);

		if (!protect_overlap(x, a) && !protect_overlap(x, b))
			continue;
		s->total += x->count_shared;
		s->held += covered(o->p, x, lock) ? x->count_shared : 0;
	}
}

static bool covers_too(const struct prot_access *b, uint32_t lock)
{
	const struct prot_held *h = protect_held(b, lock);

	return h && suspicion_covers(h, b);
}

/*
 * Try the locks of side `which`. A lock of this side replaces the lock in *s if more accesses hold the new lock. If the same
 * number of accesses hold each of the two locks, the new lock is chosen only if it is in the datum's own object and the old
 * lock is not. With `covering`, try only locks that protect this side's access and do not protect the other side's access.
 */
static void try_side(const struct protect_ordered *o, const uint32_t at[2], unsigned which, bool covering, struct suspicion *s)
{
	const struct prot_access *a = access_at(o, at[which]), *b = access_at(o, at[!which]);

	for (unsigned i = 0; i < a->held_count; i++) {
		struct suspicion other = *s;
		const struct prot_held *h = &a->held[i];

		if (h->maybe || o->p->locks[h->lock].kind == LOCK_CALLBACK ||
		    (covering && (!suspicion_covers(h, a) || covers_too(b, h->lock))))
			continue;
		other.lock = h->lock;
		other.side[0] = o->index[at[which]];
		other.side[1] = o->index[at[!which]];
		count(o, at, h->lock, &other);
		if (s->lock != PROTECTION_NONE &&
		    (other.held < s->held ||
		     (other.held == s->held && protect_inside(o->p, a, other.lock) <= protect_inside(o->p, a, s->lock))))
			continue;
		*s = other;
	}
}

void protect_choose(const struct protect_ordered *o, const uint32_t at[2], struct suspicion *s)
{
	s->lock = PROTECTION_NONE;
	try_side(o, at, 0, true, s);
	try_side(o, at, 1, true, s);
	/*
	 * Two writers may both have taken a lock only for reading. Such a lock protects neither access, so the two calls of
	 * try_side() above skip the lock. Choose it if no other lock was found.
	 */
	if (s->lock == PROTECTION_NONE) {
		try_side(o, at, 0, false, s);
		try_side(o, at, 1, false, s);
	}
	s->concurrent = protect_pair_concurrent(o->p, access_at(o, at[0]), access_at(o, at[1]));
}

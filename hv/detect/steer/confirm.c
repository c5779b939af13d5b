// SPDX-License-Identifier: GPL-2.0-or-later
/* Confirming suspected races (confirm.h): arms both sites of a suspected pair, or one of them, while it is the pair's turn. */
#include "hv/detect/steer/confirm.h"

#include <stdlib.h>

#include "hv/detect/core/state.h"
#include "hv/detect/steer/arm.h"
#include "hv/detect/steer/handover_order.h"
#include "hv/detect/steer/lock_order.h"
#include "hv/detect/steer/pool.h"

#define TURN_NS 200000000u
/* On a target where arming stops the whole guest, a turn lasts 1 s instead of 200 ms. */
#define COSTLY_TURN_NS 1000000000u
/* Number of pairs that have their turn at the same time. */
#define PAIRS_AT_A_TIME 8u
/* Confirming may use up to half of the requested hits/s, but at least 20 hits/s. */
#define RATE_SHARE 0.5
#define RATE_LEAST 20.0

/* A pair of sites whose race is to be confirmed, and how often a CPU hit each site. */
struct pair {
	uint64_t site[2]; /* GVAs */
	uint64_t reached[2];
	/* The latest access at each site that was not yet compared with an access at the other site. */
	struct lock_hit latest[2];
	/* The latest access at each site, compared or not: it names the locks that accesses there hold. */
	struct lock_hit last[2];
	/* An access at one site certainly did not hold a lock that the latest access at the other site held. */
	bool bare;
	struct pair_order order;
};

/* The pairs to confirm. d->lock guards `pairs` and `count`. Only the sampler's thread uses the other members. */
struct confirmer {
	struct pair pairs[CONFIRM_PAIRS_MAX];
	unsigned count;
	/*
	 * Sampler's thread only: when this turn ends (CLOCK_MONOTONIC, ns), the turn's number, and the first of the pairs whose
	 * turn it is.
	 */
	uint64_t turn_ends, turn;
	unsigned first;
	/* Number of points that may be armed now, and when this budget was last refilled (CLOCK_MONOTONIC, ns). */
	double budget;
	uint64_t last_ns;
};

struct confirmer *confirm_new(void)
{
	return calloc(1, sizeof(struct confirmer));
}

void confirm_free(struct confirmer *v)
{
	free(v);
}

static struct pair *find(struct confirmer *v, uint64_t a, uint64_t b)
{
	for (unsigned i = 0; i < v->count; i++) {
		struct pair *p = &v->pairs[i];

		if ((p->site[0] == a && p->site[1] == b) || (p->site[0] == b && p->site[1] == a))
			return p;
	}
	return NULL;
}

/* Remove a pair by moving the last pair to its place. */
static void forget(struct confirmer *v, struct pair *p)
{
	*p = v->pairs[--v->count];
}

bool confirm_add(struct confirmer *v, uint64_t a, uint64_t b)
{
	if (find(v, a, b) || v->count == CONFIRM_PAIRS_MAX)
		return false;
	v->pairs[v->count++] = (struct pair){.site = {a, b}};
	return true;
}

bool confirm_get(struct confirmer *v, uint64_t a, uint64_t b, uint64_t reached[2])
{
	const struct pair *p = find(v, a, b);

	if (!p)
		return false;
	reached[0] = p->reached[p->site[0] != a];
	reached[1] = p->reached[p->site[0] == a];
	return true;
}

bool confirm_order(struct confirmer *v, uint64_t a, uint64_t b, struct pair_order *out)
{
	const struct pair *p = find(v, a, b);

	if (p)
		*out = p->order;
	return p;
}

void confirm_end(struct confirmer *v, uint64_t a, uint64_t b)
{
	struct pair *p = find(v, a, b);

	if (p)
		forget(v, p);
}

void confirm_reached(struct detect *d, uint64_t site)
{
	for (unsigned i = 0; i < d->confirmer->count; i++) {
		struct pair *p = &d->confirmer->pairs[i];

		p->reached[0] += p->site[0] == site;
		p->reached[1] += p->site[1] == site;
	}
}

static bool overlap(const struct lock_hit *a, const struct lock_hit *b)
{
	return a->number && a->gva < b->gva + b->size && b->gva < a->gva + a->size;
}

static bool conflict(const struct lock_hit *a, const struct lock_hit *b)
{
	return overlap(a, b) && ((a->rw | b->rw) & INSN_WRITE) && (a->who.who != b->who.who || a->who.kind != b->who.kind);
}

static bool has(const struct lockset *set, uint64_t gva)
{
	for (unsigned i = 0; i < set->count; i++) {
		if (set->held[i].gva == gva)
			return true;
	}
	return false;
}

/* Whether the lock certainly keeps all other contexts out. */
static bool is_exclusive(const struct held_lock *lock)
{
	return !lock->shared && !lock->maybe && lock->kind != LOCK_CALLBACK;
}

/* Whether one of the accesses is made by a callback that cannot run at the same time as the other access. */
static bool apart_by_callback(const struct lock_hit *a, const struct lock_hit *b)
{
	struct lockset one = {0}, other = {0};

	for (unsigned i = 0; i < a->held.count; i++) {
		if (a->held.held[i].kind == LOCK_CALLBACK)
			one.held[one.count++] = a->held.held[i];
	}
	for (unsigned i = 0; i < b->held.count; i++) {
		if (b->held.held[i].kind == LOCK_CALLBACK)
			other.held[other.count++] = b->held.held[i];
	}
	return lockset_excludes(&one, &other);
}

/*
 * If the accesses `other` and `hit` overlap, add to `out` the exclusive locks that `other` held and `hit` is not known to hold.
 * Returns the new number of locks in `out`.
 */
static unsigned add_locks(const struct lock_hit *other, const struct lock_hit *hit, struct confirm_lock out[LOCKSET_MAX],
			  unsigned n)
{
	for (unsigned i = 0; overlap(other, hit) && i < other->held.count && n < LOCKSET_MAX; i++) {
		const struct held_lock *lock = &other->held.held[i];
		bool again = !is_exclusive(lock) || has(&hit->held, lock->gva);

		for (unsigned k = 0; k < n; k++)
			again |= out[k].lock.gva == lock->gva;
		if (!again)
			out[n++] = (struct confirm_lock){.lock = *lock, .number = other->number};
	}
	return n;
}

unsigned confirm_locks(const struct detect *d, uint64_t site, const struct lock_hit *hit, struct confirm_lock out[LOCKSET_MAX])
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->confirmer->count; i++) {
		const struct pair *p = &d->confirmer->pairs[i];

		for (unsigned which = 0; which < 2; which++) {
			if (p->site[which] == site)
				n = add_locks(&p->last[!which], hit, out, n);
		}
	}
	return n;
}

/*
 * Whether `hit` holds exclusive locks of `other`: LOCK_ORDER_LOCKS if it holds one, LOCK_ORDER_NONE if it holds none,
 * LOCK_ORDER_UNKNOWN if it holds none for certain, but may hold one.
 */
static enum lock_order holds_of(const struct lock_hit *hit, const struct lock_hit *other)
{
	enum lock_order order = LOCK_ORDER_NONE;

	for (unsigned i = 0; i < other->held.count; i++) {
		const struct held_lock *lock = &other->held.held[i];

		if (!is_exclusive(lock))
			continue;
		if (has(&hit->held, lock->gva))
			return LOCK_ORDER_LOCKS;
		if (!has(&hit->free, lock->gva))
			order = LOCK_ORDER_UNKNOWN;
	}
	return order;
}

/*
 * To be called for two accesses that no recorded lock operation orders. Returns whether they both hold a lock that code outside
 * of the subject took, because this lock then orders them. If the detector could not find out whether one access holds the
 * locks of the other one, the result is LOCK_ORDER_UNKNOWN, unless an earlier access of the pair surely lacked such a lock
 * (`bare`).
 */
static enum lock_order order_outside(const struct lock_hit *first, const struct lock_hit *second, bool bare)
{
	enum lock_order of_first = holds_of(second, first), of_second = holds_of(first, second);

	if (of_first == LOCK_ORDER_LOCKS || of_second == LOCK_ORDER_LOCKS)
		return LOCK_ORDER_LOCKS;
	return !bare && (of_first == LOCK_ORDER_UNKNOWN || of_second == LOCK_ORDER_UNKNOWN) ? LOCK_ORDER_UNKNOWN
											    : LOCK_ORDER_NONE;
}

/* Count whether locks or hand-overs order two accesses at the pair's sites. An unknown order counts nowhere. */
static void count_order(struct pair *p, const struct lock_events *events, const struct lock_hit *first,
			const struct lock_hit *second)
{
	struct pair_order *order = &p->order;
	enum lock_order by_locks = lock_order(events, first, second);
	enum handover_order by_handover = handover_order(events, first, second);

	if (by_locks == LOCK_ORDER_NONE)
		by_locks = order_outside(first, second, p->bare);
	order->after_interrupt += by_handover == HANDOVER_ORDER_FIRST && first->who.kind == GUEST_HARDIRQ;
	if (by_locks == LOCK_ORDER_LOCKS)
		order->by_locks++;
	else if (by_handover == HANDOVER_ORDER_FIRST || apart_by_callback(first, second))
		order->by_handover++;
	else if (by_locks == LOCK_ORDER_NONE && by_handover == HANDOVER_ORDER_NONE)
		order->none++;
	else if (by_locks == LOCK_ORDER_NONE && by_handover == HANDOVER_ORDER_LATER)
		order->later++;
}

static void accessed(struct pair *p, const struct lock_events *events, unsigned which, const struct lock_hit *hit)
{
	struct lock_hit *other = &p->latest[!which];

	p->latest[which] = *hit;
	p->last[which] = *hit;
	for (unsigned i = 0; overlap(&p->last[!which], hit) && i < p->last[!which].held.count; i++)
		p->bare |= has(&hit->free, p->last[!which].held.held[i].gva);
	if (!conflict(other, hit))
		return;
	count_order(p, events, other, hit);
	/*
	 * Compare an access with one access at the other site only. More comparisons of the same access would add no
	 * information.
	 */
	other->number = 0;
}

void confirm_accessed(struct detect *d, const struct lock_events *events, uint64_t site, const struct lock_hit *hit)
{
	for (unsigned i = 0; i < d->confirmer->count; i++) {
		struct pair *p = &d->confirmer->pairs[i];

		for (unsigned which = 0; which < 2; which++) {
			if (p->site[which] == site)
				accessed(p, events, which, hit);
		}
	}
}

void confirm_object_ends(struct detect *d, uint64_t gva, uint32_t bytes)
{
	for (unsigned i = 0; i < d->confirmer->count; i++) {
		for (unsigned which = 0; which < 2; which++) {
			struct pair *p = &d->confirmer->pairs[i];

			if (p->last[which].gva - gva < bytes)
				p->latest[which].number = p->last[which].number = 0;
		}
	}
}

bool confirm_has(const struct detect *d, uint64_t site)
{
	for (unsigned i = 0; i < d->confirmer->count; i++) {
		if (d->confirmer->pairs[i].site[0] == site || d->confirmer->pairs[i].site[1] == site)
			return true;
	}
	return false;
}

void confirm_text_gone(struct detect *d, uint64_t base, uint64_t size)
{
	for (unsigned i = d->confirmer->count; i-- > 0;) {
		struct pair *p = &d->confirmer->pairs[i];

		if (p->site[0] - base < size || p->site[1] - base < size)
			forget(d->confirmer, p);
	}
}

static void refill(struct detect *d, struct confirmer *v, uint64_t now)
{
	double rate = RATE_SHARE * d->config.rate, most;

	rate = rate < RATE_LEAST ? RATE_LEAST : rate;
	most = 0.1 * rate + 2;
	if (v->last_ns)
		v->budget += (double)(now - v->last_ns) / 1e9 * rate;
	v->budget = v->budget > most ? most : v->budget;
	v->last_ns = now;
}

/* Store in `due` the GVAs of the sites to arm in this turn, at most two for each pair. Returns the number of sites. */
static unsigned choose(struct detect *d, struct confirmer *v, uint64_t now, uint64_t due[2 * PAIRS_AT_A_TIME])
{
	unsigned pairs, n = 0;

	pthread_mutex_lock(&d->lock);
	pairs = v->count < PAIRS_AT_A_TIME ? v->count : PAIRS_AT_A_TIME;
	if (now >= v->turn_ends) {
		v->turn_ends = now + (d->target->caps.costly_stops ? COSTLY_TURN_NS : TURN_NS);
		v->turn++;
		v->first += pairs;
	}
	for (unsigned i = 0; i < pairs; i++) {
		const struct pair *p = &v->pairs[(v->first + i) % v->count];
		unsigned lead = (unsigned)((v->turn + i) & 3);

		if (lead != 1)
			due[n++] = p->site[0];
		if (lead != 0 && p->site[1] != p->site[0])
			due[n++] = p->site[1];
	}
	pthread_mutex_unlock(&d->lock);
	return n;
}

void confirm_step(struct detect *d, uint64_t now)
{
	uint64_t due[2 * PAIRS_AT_A_TIME];
	struct confirmer *v = d->confirmer;
	unsigned n;

	refill(d, v, now);
	n = choose(d, v, now, due);
	for (unsigned i = 0; i < n && v->budget > 0; i++)
		v->budget -= pool_has_site(d->sampler.pool, due[i]) && arm_site(d, due[i], ARM_CHANCE) == ARMED;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confirming suspected races (pruner/locks/protect.h): both sites of a suspected pair are armed while sampling goes on, and
 * their windows are longer, until the race is seen or the caller gives the pair up. DataCollider (section 3.1) chooses sites at
 * random; confirming opens the same windows at two sites that are expected to race.
 *
 * Pairs take turns of 200 ms, or of 1 s if arming stops the guest. In half of a pair's turns, both sites are armed. In the
 * other half, only one site is armed, and its window's watchpoints catch the access at the other site. If both were always
 * armed, the site that is executed more often would nearly always be the held one, mostly with no other access in its window.
 */
#ifndef OUTRIDER_DETECT_STEER_CONFIRM_H
#define OUTRIDER_DETECT_STEER_CONFIRM_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/race/lockset.h"

#define CONFIRM_PAIRS_MAX 64u

struct detect;
struct lock_events;
struct lock_hit;

struct pair_order;
struct confirmer;

/* Returns NULL when memory runs out. */
struct confirmer *confirm_new(void);

/* `v` may be NULL. */
void confirm_free(struct confirmer *v);

/*
 * Add the pair of sites at these GVAs. Returns false if the pair was added before, in either order, or if there are
 * CONFIRM_PAIRS_MAX pairs already. The caller of this function and of the next three holds d->lock.
 */
bool confirm_add(struct confirmer *v, uint64_t a, uint64_t b);

/* Store in `reached` how often CPUs have hit `a` and `b`. Returns false if the pair was not added. */
bool confirm_get(struct confirmer *v, uint64_t a, uint64_t b, uint64_t reached[2]);

/*
 * Store in *out how often locks or hand-overs ordered accesses at the two sites, and how often not. Returns false if the pair
 * was not added.
 */
bool confirm_order(struct confirmer *v, uint64_t a, uint64_t b, struct pair_order *out);

/* Remove the pair, if it was added. */
void confirm_end(struct confirmer *v, uint64_t a, uint64_t b);

/* A sample point at this GVA was hit: count it. Called in a callback, under d->lock. */
void confirm_reached(struct detect *d, uint64_t site);

/* A lock that the latest access at a pair's other site held. `number`: the number of that access's lock moment. */
struct confirm_lock {
	struct held_lock lock;
	uint64_t number;
};

/*
 * A CPU is about to make the access `hit` at this site. In each pair with the site, look at the latest access at the other
 * site. If that access was to the same memory, store in `out` the exclusive locks that it held and that are not in hit->held.
 * Returns the number of locks in `out`. Called in a callback, under d->lock.
 */
unsigned confirm_locks(const struct detect *d, uint64_t site, const struct lock_hit *hit, struct confirm_lock out[LOCKSET_MAX]);

/*
 * A CPU is about to make the access `hit` at this site: in each pair with the site, check whether locks or hand-overs order the
 * access after the latest one at the other site. `events` are the lock operations and hand-overs so far. Called in a callback,
 * under d->lock.
 */
void confirm_accessed(struct detect *d, const struct lock_events *events, uint64_t site, const struct lock_hit *hit);

/*
 * The object at `gva`, of at most `bytes` bytes, was freed, allocated or reused: do not compare accesses to the old object with
 * later ones. Called in a callback, under d->lock.
 */
void confirm_object_ends(struct detect *d, uint64_t gva, uint32_t bytes);

/* Whether this GVA is a site of a pair. The caller holds d->lock. */
bool confirm_has(const struct detect *d, uint64_t site);

/* The text [base, base+size) is about to be freed: forget pairs with a site in it. The caller holds d->lock. */
void confirm_text_gone(struct detect *d, uint64_t base, uint64_t size);

/*
 * Arm the sites of the pairs that have their turn now. `now` is CLOCK_MONOTONIC in ns. Called on the sampler's thread, without
 * d->lock, between target_enter() and target_leave().
 */
void confirm_step(struct detect *d, uint64_t now);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confirming suspected races (pruner/locks/protect.h): both sites of a suspected pair are armed while sampling goes on, and
 * their windows are longer, until the race is seen or the pair is given up. DataCollider (section 3.1) chooses sites at random;
 * this is the same window with a better choice.
 *
 * A pair's turn lasts 200 ms, or 1 s if arming stops the guest. In half of its turns both sites are armed. In the other half
 * only one is: the window's watchpoints see the other side without a point. If both were always armed, the site that is
 * executed more often would nearly always be the held one, mostly with no other access in its window.
 */
#ifndef OUTRIDER_DETECT_STEER_CONFIRM_H
#define OUTRIDER_DETECT_STEER_CONFIRM_H

#include <stdbool.h>
#include <stdint.h>

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
 * Add the pair of sites at these GVAs. Returns false if the pair is there already, in either order, or if there are
 * CONFIRM_PAIRS_MAX. The caller of this function and of the next three holds d->lock.
 */
bool confirm_add(struct confirmer *v, uint64_t a, uint64_t b);

/* How often a CPU hit `a` and `b`. Returns false if there is no such pair. */
bool confirm_get(struct confirmer *v, uint64_t a, uint64_t b, uint64_t reached[2]);

/* The order that locks imposed on accesses at the two sites. Returns false if there is no such pair. */
bool confirm_order(struct confirmer *v, uint64_t a, uint64_t b, struct pair_order *out);

/* Forget the pair, if there is one. */
void confirm_end(struct confirmer *v, uint64_t a, uint64_t b);

/* A sample point at this GVA was hit: count it. Called in a callback, under d->lock. */
void confirm_reached(struct detect *d, uint64_t site);

/*
 * A CPU is about to make this access at a site of a pair; `events` are the lock operations so far. Called in a callback, under
 * d->lock.
 */
void confirm_accessed(struct detect *d, const struct lock_events *events, uint64_t site, const struct lock_hit *hit);

/*
 * The object at `gva` was freed or allocated: do not compare accesses to the old object with later ones. Called in a callback,
 * under d->lock.
 */
void confirm_object_ends(struct detect *d, uint64_t gva);

/* Whether this GVA is a site of a pair. The caller holds d->lock. */
bool confirm_has(const struct detect *d, uint64_t site);

/* The text [base, base+size) is about to be freed: forget pairs with a site in it. The caller holds d->lock. */
void confirm_text_gone(struct detect *d, uint64_t base, uint64_t size);

/* Arm the sites that are due. Called on the sampler's thread, without d->lock, between target_enter() and target_leave(). */
void confirm_step(struct detect *d, uint64_t now);

#endif

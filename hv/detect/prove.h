/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Proving: pairs of sites that are suspected to race (pruner/protect.h) are armed while the sampling of everything else goes
 * on, and their accesses are held for longer, until the race is seen or the pair is given up on. DataCollider (section 3.1)
 * leaves the choice of sites to chance; this is the same window with a better choice.
 *
 * A pair's turn lasts some hundred ms. In half of its turns both sites are armed, and in the others one of them, because a
 * window's watchpoints see the other side without a point. Otherwise the CPU at the site that is executed more often would
 * mostly be the one that is held, and for nothing.
 */
#ifndef OUTRIDER_DETECT_PROVE_H
#define OUTRIDER_DETECT_PROVE_H

#include <stdbool.h>
#include <stdint.h>

#define PROOFS_MAX 64u

struct detect;
struct lock_events;
struct lock_hit;

struct proof_order;
struct proving;

/* NULL: memory ran out. */
struct proving *prove_new(void);

/* NULL is allowed. */
void prove_free(struct proving *v);

/*
 * Add the pair of the sites at these GVAs. False: it is there already, in whatever order, or there are PROOFS_MAX. These three
 * under d->lock.
 */
bool prove_add(struct proving *v, uint64_t a, uint64_t b);

/* How often a CPU has come to `a` and to `b`. False: there is no such pair. */
bool prove_get(struct proving *v, uint64_t a, uint64_t b, uint64_t reached[2]);

/* The order of accesses at the two sites, as it was seen. False: there is no such pair. Under d->lock. */
bool prove_order(struct proving *v, uint64_t a, uint64_t b, struct proof_order *out);

/* Forget the pair, if it is there. Under d->lock. */
void prove_end(struct proving *v, uint64_t a, uint64_t b);

/* A sample point at this GVA was hit: count it. In a callback, under d->lock. */
void prove_reached(struct detect *d, uint64_t site);

/*
 * A CPU is about to make this access at a site of a pair, and `events` are the calls of locks until now. In a callback, under
 * d->lock.
 */
void prove_accessed(struct detect *d, const struct lock_events *events, uint64_t site, const struct lock_hit *hit);

/* The object at `gva` ends: what was accessed there is not compared with what comes. In a callback, under d->lock. */
void prove_object_ends(struct detect *d, uint64_t gva);

/* Whether this GVA is a site of a pair. Under d->lock. */
bool prove_has(const struct detect *d, uint64_t site);

/* The text [base, base+size) goes: forget the pairs that have a site in it. Under d->lock. */
void prove_text_gone(struct detect *d, uint64_t base, uint64_t size);

/* Plant what is due. On the sampler's thread, without d->lock, between target_enter() and target_leave(). */
void prove_step(struct detect *d, uint64_t now);

#endif

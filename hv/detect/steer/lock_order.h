/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides whether locks order two accesses. Locks order them if the context of the first access released a lock after that
 * access, and the context of the second access took the same lock before its own access, directly or through a chain of such
 * steps in other contexts (Lamport's happens-before, CACM 1978). An example is an object that a context takes out of a list
 * under a lock, uses without a lock, and puts back under the lock.
 *
 * locks.c records the lock operations with lock_events_add(), and confirm.c asks for the order of two accesses. The ring keeps
 * the latest operations, and lock_order() searches them from the newest to the oldest.
 *
 * Two interrupts on one CPU are different contexts if the CPU was seen in a lower context (a task is lower than an interrupt)
 * between them. Guarded by the detector's lock.
 */
#ifndef OUTRIDER_DETECT_STEER_LOCK_ORDER_H
#define OUTRIDER_DETECT_STEER_LOCK_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/detect/steer/lock_who.h"
#include "hv/race/lockset.h"

/* Number of lock operations that are kept. */
#define LOCK_EVENTS_KEPT 1024u

/*
 * A context took (`give` false) or released a lock; or it acquired (`give` false) or released an object of a hand-over
 * (hv/race/handover.h). `number` is that of the lock moment (hv/race/lock_moment.h).
 */
struct lock_event {
	/* `gva`: GVA of the lock, or the number that identifies the object of the hand-over (enum handover_kind). */
	uint64_t number, gva;
	struct lock_who who;
	bool give, shared;
	/* The event belongs to a hand-over. Then `kind` is an enum handover_kind, and `side` an enum handover_side. */
	bool handover;
	uint8_t kind, side;
	/*
	 * In an event of a hand-over: number of objects at this address that may have ended since (handover_object_ends()), at
	 * most 255.
	 */
	uint8_t ended;
	/*
	 * In an acquire by a call that waits, if no hook saw the call return: number of the lock moment at which the call
	 * began. A release with a `due` below this number came before the return, because the call waited for this release. Any
	 * other release may have come after the return. 0: a hook saw the return.
	 */
	uint64_t since;
	/*
	 * In a release at the end of a callback: number of the lock moment in which the callback was queued or, if no hook saw
	 * that, in which the callback began. If a call of timer_delete_sync(), flush_work() or the like began later, the
	 * callback was queued or running at that time, so the call waited for this end. If the call began earlier, it may have
	 * returned before the callback was queued, without waiting for it. 0: the callback ends only once (a thread), so all
	 * calls wait for this end.
	 */
	uint64_t due;
	/*
	 * The event is the beginning of a callback. Earlier events of this context belong to other callbacks, which may run on
	 * other CPUs as well.
	 */
	bool begins;
};

/* Ring of the latest lock operations. All zero: none yet. */
struct lock_events {
	struct lock_event list[LOCK_EVENTS_KEPT];
	uint64_t count;
	/* Before the lock moment with this number, some lock operations may have been missed. */
	uint64_t hole;
};

/* An access. `number` is that of its lock moment. 0: no access. */
struct lock_hit {
	uint64_t number, gva;
	uint32_t size;
	uint8_t rw; /* enum insn_rw bits */
	struct lock_who who;
	/* The locks held at the access. */
	struct lockset held;
	/*
	 * Locks that accesses at the other site of a pair held, and that this access does not hold: neither sampled code nor
	 * code that called it had taken them (hv/detect/locks/outside.h).
	 */
	struct lockset free;
};

/*
 * Add an event. Callers add events in the order of their numbers, and add no event for a call that only tries to take a lock.
 */
void lock_events_add(struct lock_events *e, const struct lock_event *event);

/* Record that lock operations before the lock moment with this number may have been missed. */
void lock_events_hole(struct lock_events *e, uint64_t number);

enum lock_order {
	LOCK_ORDER_UNKNOWN, /* the ring lacks operations, there are too many contexts or locks, or held locks are unknown */
	LOCK_ORDER_NONE,
	LOCK_ORDER_LOCKS, /* locks put `first` before `second` */
};

/*
 * How often an access at one site was followed by an access at the other site, in another context and to the same memory, with
 * at least one of the two a write.
 */
struct pair_order {
	/* How often a lock ordered the two accesses. */
	uint64_t by_locks;
	/* How often a hand-over ordered the two accesses (handover_order.h), and no lock did. */
	uint64_t by_handover;
	/* How often neither a lock nor a hand-over ordered the two accesses, not counting `later`. */
	uint64_t none;
	/*
	 * How often nothing ordered the two accesses, but the second access was made by a handler of an interrupt that began
	 * after the first access (HANDOVER_ORDER_LATER).
	 */
	uint64_t later;
	/*
	 * How often a hand-over ordered the second access after a first access by an interrupt handler, whether or not a lock
	 * did, too.
	 */
	uint64_t after_interrupt;
};

/* Returns whether locks order two accesses by different contexts. first->number must be less than second->number. */
enum lock_order lock_order(const struct lock_events *e, const struct lock_hit *first, const struct lock_hit *second);

#endif

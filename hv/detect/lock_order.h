/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether locks put two accesses in order: the first one's context gave back a lock later, and the second one's context took
 * that lock before its access, or there is a chain of such steps through other contexts (Lamport's happens-before, CACM 1978).
 * So it is with an object that whoever has taken it out of a list uses without a lock, and puts back.
 *
 * The latest calls of locks are kept, and looked through from the newest to the oldest. An interrupt that came after its CPU
 * was seen in a lower context is another one than the one before. No lock of its own: the detector's lock guards it.
 */
#ifndef OUTRIDER_DETECT_LOCK_ORDER_H
#define OUTRIDER_DETECT_LOCK_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/race/facts.h"
#include "hv/race/lockset.h"

/* So many of the latest calls are kept. */
#define LOCK_EVENTS_KEPT 1024u

/* A context, as lock_sets.h tells contexts apart. */
struct lock_who {
	int64_t who;
	uint16_t cpu;
	uint8_t kind; /* enum guest_context_kind */
};

/* A lock is taken or given back, at the moment with this number. */
struct lock_event {
	uint64_t number, gva;
	struct lock_who who;
	bool give, shared;
};

/* All zero: none yet. */
struct lock_events {
	struct lock_event list[LOCK_EVENTS_KEPT];
	uint64_t count;
	/* Some calls before the moment with this number were not seen. */
	uint64_t hole;
};

/* An access at the moment with this number. 0: there is none. */
struct lock_hit {
	uint64_t number, gva;
	uint32_t size;
	uint8_t rw; /* enum insn_rw bits */
	struct lock_who who;
	/* What was held. */
	struct lockset held;
};

/* The context must be known. */
struct lock_who lock_who_is(unsigned cpu, const struct guest_context *context);

/* Events come in the order of their numbers. One with which a lock was only tried is none. */
void lock_events_add(struct lock_events *e, const struct lock_event *event);

/* What was called before the moment with this number may not have been seen. */
void lock_events_hole(struct lock_events *e, uint64_t number);

enum lock_order {
	LOCK_ORDER_UNKNOWN, /* too long ago, or not all that was held is known */
	LOCK_ORDER_NONE,
	LOCK_ORDER_LOCKS, /* locks put `first` before `second` */
};

/* How often an access at one site was followed by one at the other, of another context and to the same memory. */
struct proof_order {
	/* Locks put them in order. */
	uint64_t by_locks;
	/* No lock did. */
	uint64_t none;
};

/* `first` has the smaller number, and another context. */
enum lock_order lock_order(const struct lock_events *e, const struct lock_hit *first, const struct lock_hit *second);

#endif

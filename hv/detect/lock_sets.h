/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which locks each context holds: a task wherever it runs and while it sleeps, and an interrupt of a CPU, which starts with
 * none of the locks of what it interrupted (DILP, SANER'19, III-C: "Interrupt status").
 *
 * The table has room for a fixed number of contexts that hold a lock at the same time, and allocates nothing. No lock of its
 * own: the detector's lock guards it.
 */
#ifndef OUTRIDER_DETECT_LOCK_SETS_H
#define OUTRIDER_DETECT_LOCK_SETS_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/race/facts.h"
#include "hv/race/lockset.h"

#define LOCK_CONTEXTS_MAX 256u

/* A context that holds a lock. */
struct lock_context {
	/* set.count, or `beyond`, is 0: this entry is free. */
	struct lockset set;
	/* How many locks it holds beyond those in `set`. */
	uint32_t beyond;
	/* The PID of a task. -1 - CPU for an interrupt of that CPU and for its idle task. */
	int64_t who;
	/* enum guest_context_kind */
	uint8_t kind;
	uint16_t cpu;
	/* For each lock in `set`, the number of the moment at which it was taken. */
	uint64_t taken[LOCKSET_MAX];
};

struct lock_sets {
	struct lock_context contexts[LOCK_CONTEXTS_MAX];
	/* A lock was taken that is in no entry, so what any context holds is not known. */
	bool incomplete;
};

/*
 * A CPU was seen in this context: what interrupts of this CPU still held that must be over by now was given back where nobody
 * looked, and is forgotten.
 */
void lock_sets_seen(struct lock_sets *s, unsigned cpu, const struct guest_context *context);

/* What this context holds, as an entry of the table. NULL: nothing, or the context is not known. */
struct lock_context *lock_sets_find(struct lock_sets *s, unsigned cpu, const struct guest_context *context);

/* Copy what this context holds. `overflow` is set if that is not known. */
void lock_sets_get(struct lock_sets *s, unsigned cpu, const struct guest_context *context, struct lockset *out);

/* The context takes a lock, at the moment with this number. */
void lock_sets_take(struct lock_sets *s, unsigned cpu, const struct guest_context *context, const struct held_lock *lock,
		    uint64_t number);

/*
 * The context gives back the lock at this GVA, the last time that it was taken. If it does not hold it, and only one can, the
 * one who does has given it away. If several can, each of them may have.
 */
void lock_sets_give(struct lock_sets *s, unsigned cpu, const struct guest_context *context, uint64_t gva);

/* The context is about to wait for this lock, which no context has twice: what it still holds of it was given back unseen. */
void lock_sets_anew(struct lock_sets *s, unsigned cpu, const struct guest_context *context, uint64_t gva);

/*
 * The call at `taken_at`, with which the context tried to take a lock, has returned. `sure`: a lock that was taken is held
 * until it is seen given back.
 */
void lock_sets_tried(struct lock_sets *s, unsigned cpu, const struct guest_context *context, uint64_t taken_at, bool taken,
		     bool sure);

/* Forget lock number `i` of an entry. */
void lock_sets_drop(struct lock_context *c, unsigned i);

/* Forget what was taken by a call in the text [base, base+size), which goes. Returns how many locks that were. */
unsigned lock_sets_text_gone(struct lock_sets *s, uint64_t base, uint64_t size);

#endif

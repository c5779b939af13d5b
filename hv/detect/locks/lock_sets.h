/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The locks that each context holds. A task keeps its locks when it migrates or sleeps. An interrupt starts with no locks: it
 * does not inherit those of the interrupted context (DILP, SANER'19, III-C: "Interrupt status").
 *
 * The table has room for LOCK_CONTEXTS_MAX contexts that hold a lock at the same time, and does not allocate. Guarded by the
 * detector's lock.
 */
#ifndef OUTRIDER_DETECT_LOCKS_LOCK_SETS_H
#define OUTRIDER_DETECT_LOCKS_LOCK_SETS_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/race/facts.h"
#include "hv/race/lockset.h"

#define LOCK_CONTEXTS_MAX 256u

/* A context that holds a lock. */
struct lock_context {
	/* A free entry has set.count and `beyond` 0. */
	struct lockset set;
	/* Number of held locks for which `set` has no room. */
	uint32_t beyond;
	/* The PID of a task, or -1 - CPU for an interrupt or the idle task of that CPU. */
	int64_t who;
	/* enum guest_context_kind */
	uint8_t kind;
	uint16_t cpu;
	/* For each lock in `set`, the number of the moment when it was taken. */
	uint64_t taken[LOCKSET_MAX];
	/*
	 * For each lock in `set`: GVA of the call in progress that releases the lock at its end (`at_return` of struct
	 * lock_function). 0: there is no such call.
	 */
	uint64_t leaving[LOCKSET_MAX];
};

struct lock_sets {
	struct lock_context contexts[LOCK_CONTEXTS_MAX];
	/* A lock was taken for which the table has no entry, so no context's lockset is known any more. */
	bool incomplete;
};

/*
 * A CPU was seen in this context. Interrupts on this CPU whose kind is higher (enum guest_context_kind) must be over, so the
 * locks that they still hold here were released unseen: forget these locks.
 */
void lock_sets_seen(struct lock_sets *s, unsigned cpu, const struct guest_context *context);

/* Returns the entry of this context, or NULL if the context holds no lock or is unknown. */
struct lock_context *lock_sets_find(struct lock_sets *s, unsigned cpu, const struct guest_context *context);

/* Copy the lockset of this context. Sets out->overflow if the lockset is not fully known. */
void lock_sets_get(struct lock_sets *s, unsigned cpu, const struct guest_context *context, struct lockset *out);

/* The context takes a lock, in the lock moment with this number: add the lock to the context's lockset. */
void lock_sets_take(struct lock_sets *s, unsigned cpu, const struct guest_context *context, const struct held_lock *lock,
		    uint64_t number);

/*
 * The context releases the lock at this GVA: drop the lock's most recent acquisition from the context's lockset. If the lock
 * is not in the context's lockset, but the context holds locks for which the set has no room (`beyond`), one of these counts
 * as released. Otherwise the context releases the lock for another context. An exclusive lock is then dropped from its owner's
 * lockset. For a shared lock or a semaphore, the detector does not know which context's hold ended, so `maybe` is set for
 * every holder.
 */
void lock_sets_give(struct lock_sets *s, unsigned cpu, const struct guest_context *context, uint64_t gva);

/*
 * The context calls a function, at `call`, that releases the lock at its end. Returns false, and does nothing, if the context
 * is not known to hold the lock. If the context takes the lock again before lock_sets_left(), the return of this call was
 * missed: then lock_sets_take() drops the earlier acquisition.
 */
bool lock_sets_leave(struct lock_sets *s, unsigned cpu, const struct guest_context *context, uint64_t gva, uint64_t call);

/*
 * The context's call at `call` has returned. If the context still holds the lock that lock_sets_leave() named for this call,
 * drop this acquisition of the lock and return the lock's GVA. Otherwise return 0.
 */
uint64_t lock_sets_left(struct lock_sets *s, unsigned cpu, const struct guest_context *context, uint64_t call);

/*
 * The context keeps the lock at this GVA as a reader, and other readers may hold it from now on. Does nothing if the context
 * does not hold the lock.
 */
void lock_sets_share(struct lock_sets *s, unsigned cpu, const struct guest_context *context, uint64_t gva);

/*
 * The context is about to wait for this lock, which cannot be taken recursively. If the lock is in the context's lockset, its
 * release was missed: drop it.
 */
void lock_sets_anew(struct lock_sets *s, unsigned cpu, const struct guest_context *context, uint64_t gva);

/*
 * A call that tries to take a lock adds the lock to the lockset with `maybe` set. Now the context's call at `taken_at`, which
 * tried to, has returned. If the call did not take the lock (`taken` false), drop the lock. If it did, and a lock hook will see
 * the lock's release (`sure`), clear `maybe`. Does nothing if this lock is not the last one in the lockset any more, or its
 * `maybe` is not set.
 */
void lock_sets_tried(struct lock_sets *s, unsigned cpu, const struct guest_context *context, uint64_t taken_at, bool taken,
		     bool sure);

/* Forget lock number `i` of an entry. */
void lock_sets_drop(struct lock_context *c, unsigned i);

/* Drop locks that were taken by calls in the text [base, base+size), which is about to be freed. Returns their number. */
unsigned lock_sets_text_gone(struct lock_sets *s, uint64_t base, uint64_t size);

#endif

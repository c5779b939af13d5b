/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lockset of a context: a task, or an interrupt, which starts with none of the locks of the context that it interrupted.
 * The method is that of Eraser (SOSP'97), and of DILP for drivers (SANER'19, III-C). Plain data.
 */
#ifndef OUTRIDER_RACE_LOCKSET_H
#define OUTRIDER_RACE_LOCKSET_H

#include <stdbool.h>
#include <stdint.h>

/* Maximum number of locks recorded per context. */
#define LOCKSET_MAX 8
/* Bytes of a lock's printable name, including the NUL. */
#define LOCK_NAME_MAX 160

enum lock_kind {
	LOCK_SPIN, /* spinlock_t, raw_spinlock_t */
	LOCK_RWLOCK,
	LOCK_MUTEX,
	LOCK_RTMUTEX,
	LOCK_SEMAPHORE,
	LOCK_RWSEM,
	LOCK_SEQ, /* the writer's side of a seqlock_t or seqcount_t */
	LOCK_BIT, /* a bit lock in a word */
	/*
	 * Not a lock, but a sign that the kernel does not run the callback of the object at `gva` in another context at the
	 * same time (enum handover_kind says what identifies the object). While the callback runs, the context that runs it is
	 * the only holder. While the callback is stopped, as by napi_disable(), every context is a holder, with `shared` set.
	 */
	LOCK_CALLBACK,
	LOCK_KINDS
};

/* Bits: what is off on the CPU while the lock is held, because the function that took the lock has turned it off. */
enum lock_off {
	LOCK_NO_SOFTIRQ = 1, /* softirqs, as by spin_lock_bh() */
	LOCK_NO_IRQ = 2,     /* interrupts, as by spin_lock_irq() and spin_lock_irqsave() */
	LOCK_NO_LINE = 4,    /* the subject's interrupts on all CPUs, as by disable_irq() before the lock is taken */
};

struct held_lock {
	/* GVA of the lock. */
	uint64_t gva;
	/*
	 * GVA of the call that took the lock. 0: the lock was taken outside of the subject, so no call was seen; the lock's
	 * owner field says that the context holds the lock.
	 */
	uint64_t taken_at;
	/* enum lock_kind */
	uint8_t kind;
	/* enum lock_off bits */
	uint8_t off;
	/* The reader's side of the lock is held. Several contexts may hold that side at the same time. */
	bool shared;
	/*
	 * It is unknown whether the lock is held, for example because the result of a trylock was not seen. The lock is treated
	 * as held if that avoids a suspicion.
	 */
	bool maybe;
};

struct lockset {
	uint8_t count;
	/* More locks are held than fit. A lock that is missing here may still be held. */
	bool overflow;
	struct held_lock held[LOCKSET_MAX];
};

/*
 * Returns true if a common lock excludes the two holders from each other: the same lock, not shared on both sides. Also true if
 * either set overflowed, since the missing locks may include a common one.
 */
bool lockset_excludes(const struct lockset *a, const struct lockset *b);

#endif

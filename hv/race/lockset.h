/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The locks that a context holds: a task, or an interrupt that started with none of the locks of what it interrupted. The idea
 * is Eraser's (SOSP'97), and DILP's (SANER'19, III-C) for drivers. Plain data.
 */
#ifndef OUTRIDER_RACE_LOCKSET_H
#define OUTRIDER_RACE_LOCKSET_H

#include <stdbool.h>
#include <stdint.h>

/* How many locks of one context are kept. */
#define LOCKSET_MAX 8
/* Bytes of a lock's name for people, with the NUL. */
#define LOCK_NAME_MAX 160

enum lock_kind {
	LOCK_SPIN, /* spinlock_t, raw_spinlock_t */
	LOCK_RWLOCK,
	LOCK_MUTEX,
	LOCK_RTMUTEX,
	LOCK_SEMAPHORE,
	LOCK_RWSEM,
	LOCK_SEQ, /* the writer's side of a seqlock or sequence count */
	LOCK_BIT, /* a bit of a word */
	LOCK_KINDS
};

/* What taking a lock keeps from the CPU, as long as it is held: bits. */
enum lock_off {
	LOCK_NO_SOFTIRQ = 1, /* softirqs are off: spin_lock_bh() */
	LOCK_NO_IRQ = 2,     /* interrupts are off: spin_lock_irq(), spin_lock_irqsave() */
};

struct held_lock {
	/* GVA of the lock. */
	uint64_t gva;
	/* GVA of the call that took it. 0: it was taken outside of the code that is looked at, and its owner word says so. */
	uint64_t taken_at;
	/* enum lock_kind */
	uint8_t kind;
	/* enum lock_off bits */
	uint8_t off;
	/* Others may hold it at the same time: a reader's side. */
	bool shared;
	/* It is not known whether it is held: a trylock whose result was not seen. It counts as held where that clears
	 * somebody. */
	bool maybe;
};

struct lockset {
	uint8_t count;
	/* There were more locks than fit. Nothing can be concluded from a lock that is missing here. */
	bool overflow;
	struct held_lock held[LOCKSET_MAX];
};

/*
 * Whether a lock that both sets have keeps their holders apart: the same lock, not shared on both sides. True as well if either
 * set overflowed, since the lock may be among those that are missing.
 */
bool lockset_excludes(const struct lockset *a, const struct lockset *b);

#endif

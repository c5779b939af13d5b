/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lock moments on their way from the CPU that stopped to the thread that describes them (lock_follower.h), first in, first
 * out. All slots are allocated at the start, so that the hit path does not allocate.
 *
 * Guarded by the detector's lock. A moment from lock_ring_next() belongs to the caller until lock_ring_give_back().
 */
#ifndef OUTRIDER_DETECT_LOCKS_LOCK_RING_H
#define OUTRIDER_DETECT_LOCKS_LOCK_RING_H

#include <stdint.h>

#include "hv/detect/core/access.h"
#include "hv/race/lock_moment.h"
#include "hv/race/observation.h"

#define LOCK_RING_SIZE 256u
/*
 * Slots reserved for ends of objects (LOCK_MOMENT_FREE). If an end were lost, the pruner would take two objects at one address
 * for the same object.
 */
#define LOCK_RING_KEPT 64u

/* A lock moment that is not described yet. The members are as in struct lock_moment (hv/race/lock_moment.h). */
struct raw_moment {
	uint64_t number;
	enum lock_moment_kind kind;
	uint64_t time_ns;
	struct lockset locks;
	struct held_lock lock;
	bool reused;
	struct base_register lock_base;
	struct lock_datum data[INSN_MAX_MEM];
	unsigned data_count;
	uint64_t during[LOCK_DURING_MAX];
	unsigned during_count;
	/* Registers, context and stacks. Not set for LOCK_MOMENT_FREE. */
	struct race_side side;
};

struct lock_ring {
	struct raw_moment *slots;
	struct race_side_room *rooms;
	/*
	 * The index of the oldest moment, and the number of moments. `count` includes the oldest moment, even while the
	 * follower describes it.
	 */
	unsigned first, count;
};

/* Returns 0, or -1 when memory runs out. */
int lock_ring_init(struct lock_ring *r);
void lock_ring_fini(struct lock_ring *r);

/*
 * Add a moment, which the caller fills in before it releases the detector's lock. Returns NULL if no slot is free for this
 * kind.
 */
struct raw_moment *lock_ring_put(struct lock_ring *r, enum lock_moment_kind kind);

/* Returns the oldest moment, or NULL if there is none. Call lock_ring_give_back() before the next call. */
struct raw_moment *lock_ring_next(struct lock_ring *r);
void lock_ring_give_back(struct lock_ring *r);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moments on their way from the CPU that stopped to the thread that describes them (lock_follower.h). All are allocated at the
 * start, so that the hit path allocates nothing. They leave in the order in which they came.
 *
 * No lock of its own: the detector's lock guards it. A moment that was taken out belongs to whoever has it until it is given
 * back.
 */
#ifndef OUTRIDER_DETECT_LOCK_RING_H
#define OUTRIDER_DETECT_LOCK_RING_H

#include <stdint.h>

#include "hv/detect/access.h"
#include "hv/race/lock_moment.h"
#include "hv/race/observation.h"

#define LOCK_RING_SIZE 256u
/* The last places are kept for the ends of objects, without which two objects would be taken for one. */
#define LOCK_RING_KEPT 64u

struct raw_moment {
	uint64_t number;
	enum lock_moment_kind kind;
	uint64_t time_ns;
	struct lockset locks;
	struct held_lock lock;
	struct base_register lock_base;
	struct lock_datum data[INSN_MAX_MEM];
	unsigned data_count;
	uint64_t during[LOCK_DURING_MAX];
	unsigned during_count;
	/* Registers, context and stacks. Not known of the end of an object. */
	struct race_side side;
};

struct lock_ring {
	struct raw_moment *slots;
	struct race_side_room *rooms;
	/* The oldest one, which may be being described, and how many there are with it. */
	unsigned first, count;
};

/* Returns 0, or -1 when memory runs out. */
int lock_ring_init(struct lock_ring *r);
void lock_ring_fini(struct lock_ring *r);

/* The next place, to be filled in at once under the lock: it is in the ring already. NULL: there is no room for this kind. */
struct raw_moment *lock_ring_put(struct lock_ring *r, enum lock_moment_kind kind);

/* The oldest moment. NULL: there is none. lock_ring_give_back() must follow before the next call. */
struct raw_moment *lock_ring_next(struct lock_ring *r);
void lock_ring_give_back(struct lock_ring *r);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Planted breakpoints. A point knows the byte that its INT3 replaced and what the instruction does, so a hit decodes nothing.
 *
 * The table has no lock of its own: the detector's lock guards it. CPUs may run while points come and go. Only text that is as
 * expected is touched (target_plant()), so the guest's own text patching is never overwritten.
 */
#ifndef OUTRIDER_DETECT_POINT_H
#define OUTRIDER_DETECT_POINT_H

#include "hv/guest/guest.h"
#include "hv/race/coverage.h"
#include "hv/target/target.h"
#include "symbols/insn/insn.h"

struct window;

struct point {
	/* The GVA of the instruction. 0: this slot of the table is free. */
	uint64_t addr;
	/*
	 * 0: a sample point, which is removed when it was hit. Else 1 + enum guest_event_kind: an event point, which stays, and
	 * whose instruction is carried out by us.
	 */
	int event;
	/* The GPA of the instruction's first byte. */
	uint64_t gpa;
	struct insn insn;
	/* What is counted of its site. Set by the caller. NULL: nothing is. */
	struct coverage_counts *counts;
	/* The window that is open at this point. NULL: none is. */
	struct window *window;
	/* The index in points->armed at which this slot stands. */
	uint32_t position;
	/* When the point was planted (CLOCK_MONOTONIC). */
	uint64_t planted_ns;
	/* The point was chosen because the guest was seen to run its function. Set by the caller, who then counts it in
	 * points.again. */
	bool again;
};

struct points {
	struct target *target;
	/* Room for `capacity` points, allocated at the start: a hit allocates nothing, and a point stays where it is. */
	struct point *slots;
	/* The indices of the `count` slots in use, without gaps, for a uniform choice. */
	uint32_t *armed;
	/* The indices of the free slots, as a stack: the next one is at capacity - 1 - count. */
	uint32_t *free_slots;
	/* From an address to 1 + the index of its slot, with open addressing. 0: the bucket is empty. */
	uint32_t *hash;
	uint32_t capacity, count, hash_mask;
	/* How many of the points have `again` set. */
	uint32_t again;
};

/* Returns 0, or -1 when memory runs out. `target` must outlive the table. */
int points_init(struct points *p, struct target *target, uint32_t capacity);

/* Free the table. Points that are in it stay planted. */
void points_fini(struct points *p);

/* The point at this GVA, or NULL. */
struct point *points_find(const struct points *p, uint64_t addr);

/*
 * Plant a point at insn->addr, which is mapped at `gpa`. It is a sample point until the caller sets `event`. Returns NULL when
 * the table is full, a point stands there already, the bytes there are not the instruction's any more, or the target refuses.
 */
struct point *points_plant(struct points *p, const struct insn *insn, uint64_t gpa);

/* Remove a point, so that the guest's text is its own again. The slot may be used for another point from now on. */
void points_remove(struct points *p, struct point *point);

/* Show code as the guest wrote it: undo our INT3s in `buf`, a copy of [gva, gva+len). */
void points_overlay(const struct points *p, uint64_t gva, uint8_t *buf, size_t len);

#endif

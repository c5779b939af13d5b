/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Planted breakpoints. A point keeps the byte that its INT3 replaced and the decoded instruction, so that a hit decodes
 * nothing.
 *
 * Guarded by the detector's lock. CPUs may run while points are planted and removed. target_plant() writes only if the text is
 * as expected, so a point never overwrites the guest's own text patching.
 */
#ifndef OUTRIDER_DETECT_CORE_POINT_H
#define OUTRIDER_DETECT_CORE_POINT_H

#include "hv/guest/guest.h"
#include "hv/race/coverage.h"
#include "hv/target/target.h"
#include "symbols/insn/insn.h"

struct window;

struct point {
	/* The GVA of the instruction. 0: this slot of the table is free. */
	uint64_t addr;
	/*
	 * 0: a sample point, which is removed when it is hit. Else 1 + enum guest_hook_kind: a hook, which stays planted, and
	 * whose instruction the target emulates.
	 */
	int hook;
	/* The GPA of the instruction's first byte. */
	uint64_t gpa;
	struct insn insn;
	/* Coverage counts of the site, set by the caller. NULL: coverage is off, or has no entry for the site. */
	struct coverage_counts *counts;
	/* The open window at this point, or NULL. */
	struct window *window;
	/* The index of this slot in points->armed. */
	uint32_t position;
	/* The point is in a function that was added because the sampled functions call it. Set by the caller. */
	bool callee;
	/* When the point was planted (CLOCK_MONOTONIC, ns). */
	uint64_t planted_ns;
	/*
	 * This is an `again` point: it was chosen because the guest was seen to run its function (hv/detect/steer/rate.h). Set
	 * by the caller, who also counts the point in points.again.
	 */
	bool again;
	/* This is a steered point (hv/detect/steer/steered.h). Set by the caller. */
	bool steered;
};

struct points {
	struct target *target;
	/*
	 * Room for `capacity` points, allocated at the start: a hit does not allocate, and a point's address does not change.
	 */
	struct point *slots;
	/* The slots in use, `count` of them without gaps. */
	uint32_t *armed;
	/* The free slots as a stack. Its top is free_slots[capacity - 1 - count]. */
	uint32_t *free_slots;
	/* Hash table with open addressing: address to 1 + slot. 0: an empty bucket. */
	uint32_t *hash;
	uint32_t capacity, count, hash_mask;
	/* Number of `again` points: those with point.again set. */
	uint32_t again;
};

/* Returns 0, or -1 when memory runs out. `target` must outlive the table. */
int points_init(struct points *p, struct target *target, uint32_t capacity);

/* Free the table. Points in it stay planted in the guest. */
void points_fini(struct points *p);

/* Returns the point at this GVA, or NULL. */
struct point *points_find(const struct points *p, uint64_t addr);

/*
 * Plant a point at insn->addr, which is mapped at `gpa`. The point is a sample point until the caller sets `hook`. Returns NULL
 * when the table is full, there is a point already, the instruction's bytes have changed, or the target refuses.
 */
struct point *points_plant(struct points *p, const struct insn *insn, uint64_t gpa);

/* Remove a point and restore the guest's byte. The slot may be reused at once. */
void points_remove(struct points *p, struct point *point);

/* Replace the detector's INT3s by the guest's bytes in `buf`, a copy of [gva, gva+len). */
void points_overlay(const struct points *p, uint64_t gva, uint8_t *buf, size_t len);

#endif

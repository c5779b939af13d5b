/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Planted breakpoints. A point knows the byte it may have replaced and what the instruction does, so a hit decodes nothing.
 *
 * Not thread-safe: the engine's lock guards the table. CPUs may run while points come and go, and only text that is as expected
 * is touched (target_plant()), so the guest's own text patching is never overwritten.
 */
#ifndef OUTRIDER_DETECT_POINT_H
#define OUTRIDER_DETECT_POINT_H

#include "hv/guest/guest.h"
#include "hv/target/target.h"
#include "symbols/insn/insn.h"

struct window;

struct point {
	uint64_t addr; /* GVA; 0: free */
	int event;     /* 0: a sample point; else 1 + enum guest_event_kind: it stays, and its instruction is carried out */
	uint64_t gpa;
	struct insn insn;
	struct window *window; /* the open window it belongs to */
	uint32_t position;     /* in points->armed */
	uint64_t planted_ns;   /* CLOCK_MONOTONIC */
};

struct points {
	struct target *target;
	struct point *slots;  /* preallocated */
	uint32_t *armed;      /* indices of slots in use, for a uniform choice */
	uint32_t *free_slots; /* the others */
	uint32_t *hash;	      /* address -> 1 + slot, open addressing */
	uint32_t capacity, count, hash_mask;
};

int points_init(struct points *p, struct target *target, uint32_t capacity);
void points_fini(struct points *p);

struct point *points_find(const struct points *p, uint64_t addr);

/* Plant at insn->addr (mapped at gpa). NULL when full, already there, or the byte is not the instruction's first any more. */
struct point *points_plant(struct points *p, const struct insn *insn, uint64_t gpa);

/* Remove: the guest's text is its own again. The point is gone after this. */
void points_remove(struct points *p, struct point *point);

/* Show code as the guest wrote it: undo our INT3s in a copy `buf` of [gva, gva+len). */
void points_overlay(const struct points *p, uint64_t gva, uint8_t *buf, size_t len);

#endif

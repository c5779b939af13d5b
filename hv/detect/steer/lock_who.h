/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The identity of a context in recorded lock operations, and a set of contexts. lock_order.h and handover_order.h search back
 * in time from an access with such a set: the contexts in it are those whose earlier operations happen before the access.
 * Guarded by the detector's lock.
 */
#ifndef OUTRIDER_DETECT_STEER_LOCK_WHO_H
#define OUTRIDER_DETECT_STEER_LOCK_WHO_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/race/facts.h"

#define LOCK_WHO_MAX 16u

/* The identity of a context, with the same values as in struct lock_context (lock_sets.h). */
struct lock_who {
	int64_t who; /* the PID of a task, or -1 - CPU for an interrupt or the idle task of that CPU */
	uint16_t cpu;
	uint8_t kind; /* enum guest_context_kind */
};

struct lock_who_set {
	struct lock_who who[LOCK_WHO_MAX];
	unsigned count;
	/* A context had no room. */
	bool full;
};

/* Returns the identity of a context, whose `known` must be set. */
struct lock_who lock_who_is(unsigned cpu, const struct guest_context *context);

/* Returns whether two contexts are the same. */
bool lock_who_same(const struct lock_who *a, const struct lock_who *b);

bool lock_who_set_has(const struct lock_who_set *c, const struct lock_who *who);

/* Add a context that is not in the set yet, or set c->full. */
void lock_who_set_add(struct lock_who_set *c, const struct lock_who *who);

void lock_who_set_drop(struct lock_who_set *c, const struct lock_who *who);

/*
 * At the event that the search has reached, the CPU lower->cpu was in the context `lower`. So the interrupts of higher kinds on
 * this CPU that are in the set began later. Remove them: they made no earlier event.
 */
void lock_who_set_drop_interrupts(struct lock_who_set *c, const struct lock_who *lower);

#endif

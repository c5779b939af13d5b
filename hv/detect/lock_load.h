/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether following locks leaves the guest's CPUs time for anything else, and what rests while it does not.
 *
 * Each followed call stops a CPU, and behind a gdbstub the whole machine. When interrupts come faster than the calls in their
 * handlers can be followed, their CPU does nothing else any more. What it interrupted stands still, and the guest's kernel
 * complains of a soft lockup after 20 s. So the points at these calls are taken out for a while before that.
 *
 * No lock of its own: the detector's lock guards it. lock_load_add() allocates, so it is called on the sampler's thread.
 */
#ifndef OUTRIDER_DETECT_LOCK_LOAD_H
#define OUTRIDER_DETECT_LOCK_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/guest/guest.h"
#include "hv/target/target.h"

struct lock_load {
	/* Since when each CPU has stopped in nothing but interrupts of one task, and when it did last. since_ns 0: it has not.
	 */
	struct {
		uint64_t task, since_ns, last_ns;
	} cpus[TARGET_MAX_CPUS];
	/* A CPU does nothing but interrupts. lock_load_rest() resets it. */
	bool too_much;
	/* Until when the points are out (CLOCK_MONOTONIC). 0: they are in. */
	uint64_t rest_until_ns;
	/* How often lock_load_rest() was called. */
	unsigned rests;
	/* The calls whose points can be out for a while: those that take or give back a lock. */
	struct guest_event_site *sites;
	size_t count, room;
};

void lock_load_fini(struct lock_load *l);

/* Returns 0, or -1 when memory runs out: this point then never rests. */
int lock_load_add(struct lock_load *l, const struct guest_event_site *site);

/* The text [base, base+size) goes, and the calls in it with it. */
void lock_load_forget(struct lock_load *l, uint64_t base, uint64_t size);

/* A CPU stopped at a followed call, in this context. May set too_much. */
void lock_load_stop(struct lock_load *l, unsigned cpu, const struct guest_context *context, uint64_t now_ns);

/* The points are taken out now. What was seen of the CPUs is forgotten. */
void lock_load_rest(struct lock_load *l, uint64_t now_ns);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides whether both sides of an order hang: each runs in a loop that no event ends. Elapsed time is no evidence, because a
 * copy may be slow. The evidence is counts: of instructions until a CPU is at the same place with the same registers, of
 * interrupts that the CPUs have taken since, and of slices of free running in which neither function has returned. Has no side
 * effects except through struct stuck_ops.
 */
#ifndef OUTRIDER_REPLAY_STUCK_H
#define OUTRIDER_REPLAY_STUCK_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/replay/copy_ops.h"
#include "hv/replay/order.h"

/* A loop is recognised if the loop itself and the code before it have at most this number of instructions each. */
#define STUCK_LOOP 16384u
/* Interrupts that both sides must take without leaving their loops. */
#define STUCK_INTERRUPTS 10u
/* Length of one slice of free running, in ns. */
#define STUCK_SLICE_NS UINT64_C(10000000)

struct stuck_ops {
	/* The functions for single steps, in which no CPU takes an interrupt. */
	struct copy_ops steps;
	/*
	 * Run one CPU freely for `ns` ns, with interrupts, while the other CPUs are stopped. Returns false on failure, or when
	 * this CPU has reached one of the two addresses in `returns`.
	 */
	bool (*slice)(void *ctx, unsigned cpu, const uint64_t returns[2], uint64_t ns);
	/* The vector of the interrupt that is pending for the CPU. -1: none. */
	int (*waiting)(void *ctx, unsigned cpu);
	/* The first argument of slice() and waiting(). */
	void *ctx;
};

/*
 * The machine has `cpus` CPUs, and is in the state in which an order has ended. Let it run on from there: first the two sides,
 * and then each CPU freely for at least `ns` ns. End at once if a side leaves its loop. Returns whether both sides hang. False
 * means only that this is unknown; the machine may then be in any state.
 */
bool stuck_run(const struct stuck_ops *ops, const struct order *order, unsigned cpus, uint64_t ns);

#endif

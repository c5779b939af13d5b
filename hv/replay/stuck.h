/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether both sides of an order hang: each goes round in a loop, and nothing that comes ends it. Time says nothing of that,
 * since a copy may be slow. So this counts: instructions, until a CPU is where it was, with the same registers; interrupts that
 * the CPUs have taken since; and slices of running freely, in which neither function has returned. Pure over struct stuck_ops.
 */
#ifndef OUTRIDER_REPLAY_STUCK_H
#define OUTRIDER_REPLAY_STUCK_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/replay/copy_ops.h"
#include "hv/replay/order.h"

/* Instructions of the longest loop that is recognised, and of what may come before it. */
#define STUCK_LOOP 16384u
/* Interrupts that have to come without an end of the loops. */
#define STUCK_INTERRUPTS 10u
/* How long a CPU runs freely at a time. */
#define STUCK_SLICE_NS UINT64_C(10000000)

struct stuck_ops {
	/* No CPU takes an interrupt in a step. */
	struct copy_ops steps;
	/*
	 * Let one CPU go on freely for `ns`, with interrupts, while the others stand. Returns whether it did so, and no CPU
	 * came to one of the two addresses in `returns`.
	 */
	bool (*slice)(void *ctx, unsigned cpu, const uint64_t returns[2], uint64_t ns);
	/* The vector of the interrupt that waits for the CPU to let it in. -1: there is none. */
	int (*waiting)(void *ctx, unsigned cpu);
	/* The first argument of both. */
	void *ctx;
};

/*
 * Run a machine of `cpus` CPUs on from where an order has ended, so that each CPU runs freely for `ns` or a little more.
 * Returns whether both sides hang. False says only that this is not known, and the machine may be anywhere then.
 */
bool stuck_run(const struct stuck_ops *ops, const struct order *order, unsigned cpus, uint64_t ns);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decide when following locks takes all of a CPU's time, and which lock hooks to remove then.
 *
 * Each hit of a lock hook stops a CPU, and with a gdbstub the whole machine. If interrupts arrive faster than the lock hooks in
 * their handlers can be served, the CPU runs nothing but these handlers. The interrupted task makes no progress, and the kernel
 * reports a soft lockup after 20 s. So before that the detector removes these lock hooks for 3 s, which is called a rest.
 *
 * Guarded by the detector's lock. lock_load_add() allocates, so it is called on the sampler's thread.
 */
#ifndef OUTRIDER_DETECT_LOCKS_LOCK_LOAD_H
#define OUTRIDER_DETECT_LOCKS_LOCK_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/guest/guest.h"
#include "hv/target/target.h"

struct lock_load {
	/*
	 * For each CPU, its current series: hits of lock hooks in interrupts that came while one task was running, with no hit
	 * by the task itself and no long gap in between. `task` is the GVA of the task's struct; `since_ns` and `last_ns` are
	 * the times of the first and the last hit (CLOCK_MONOTONIC, ns). since_ns 0: no series.
	 */
	struct {
		uint64_t task, since_ns, last_ns;
	} cpus[TARGET_MAX_CPUS];
	/* A CPU ran nothing but interrupts for too long. lock_load_rest() resets this flag. */
	bool too_much;
	/* When the lock hooks are to be planted again (CLOCK_MONOTONIC, ns). 0: they are planted. */
	uint64_t rest_until_ns;
	/* Number of calls of lock_load_rest(). */
	unsigned rests;
	/* The lock hooks that may be removed. A hook that sees the end of an object is not among them. */
	struct guest_hook_site *sites;
	size_t count;
};

void lock_load_fini(struct lock_load *l);

/* Add a lock hook that may be removed. Returns 0, or -1 when memory runs out: the hook is then never removed. */
int lock_load_add(struct lock_load *l, const struct guest_hook_site *site);

/* Forget the lock hooks in the text [base, base+size), which is about to be freed. */
void lock_load_forget(struct lock_load *l, uint64_t base, uint64_t size);

/*
 * A CPU hit a lock hook in this context. In an interrupt, continue the CPU's series of hits (`cpus`), or begin a new one; in a
 * task or an unknown context, end the series. Set too_much if the series has lasted too long.
 */
void lock_load_stop(struct lock_load *l, unsigned cpu, const struct guest_context *context, uint64_t now_ns);

/* The caller removes the lock hooks now: set the end of the rest, and forget the series of all CPUs. */
void lock_load_rest(struct lock_load *l, uint64_t now_ns);

#endif

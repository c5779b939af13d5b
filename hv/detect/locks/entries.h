/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of hooks at the entries of kernel functions that wait for a hand-over, release an object for a hand-over, or stop a
 * callback, such as synchronize_irq() (entry_hooks.h). Guarded by the detector's lock.
 */
#ifndef OUTRIDER_DETECT_LOCKS_ENTRIES_H
#define OUTRIDER_DETECT_LOCKS_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/guest/lock_functions.h"

#define ENTRY_HOOKS_MAX 64u

struct entry_hook {
	/* GVA of the instruction. 0: the hook was removed. */
	uint64_t addr;
	const struct lock_function *function;
	/* Number of stops in vain since the last check: the object belonged to no callback of the subject. */
	unsigned idle_stops;
};

/* Guarded by the detector's lock. All zero: no hooks. */
struct entries {
	struct entry_hook list[ENTRY_HOOKS_MAX];
	unsigned count;
	/* Bits of enum handover_kind: the kinds of hand-over for which the subject has callbacks. */
	unsigned kinds;
	/* When `idle_stops` of the hooks was last checked (CLOCK_MONOTONIC, ns). Sampler's thread only. */
	uint64_t checked_ns;
};

/* Whether this function gets a hook at its entry as soon as the subject has a callback of the function's kind of hand-over. */
bool entries_fit(const struct lock_function *function);

/* Returns the hook at this GVA, or NULL. Valid while the caller holds the detector's lock. */
struct entry_hook *entries_at(struct entries *e, uint64_t addr);

/* Forget the hooks in the text [base, base+size), which is about to be freed. */
void entries_forget(struct entries *e, uint64_t base, uint64_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows: how they open and how they end. The caller of each function holds d->lock. */
#ifndef OUTRIDER_DETECT_WINDOW_WINDOW_H
#define OUTRIDER_DETECT_WINDOW_WINDOW_H

#include "hv/detect/core/state.h"

/* When 1/4 of a window's time is over, window_expire() checks whether any other CPU is running. */
#define WINDOW_FIRST_LOOK 4

/*
 * Store in `data` the accesses that the CPU with these registers is about to make at `point`, with their places in
 * guest-physical memory. Accesses to the CPU's own stack, to unmapped memory and to memory that is no RAM are left out.
 * *on_stack says whether any access is to the CPU's own stack. Returns the number of accesses in `data`.
 */
unsigned window_data(struct detect *d, const struct point *point, const struct x86_regs *regs, struct datum data[INSN_MAX_MEM],
		     bool *on_stack);

/*
 * Prepare a window on `cpu`, which has none, before the accesses data[0] to data[n-1], n >= 1. From then on devices report
 * accesses to this memory. Returns true when no device is accessing it now: the caller must then call window_open() or
 * window_drop() before it releases d->lock. Returns false when a device is accessing the memory: the conflict was reported
 * then, and no CPU needs to be held.
 */
bool window_prepare(struct detect *d, struct point *point, unsigned cpu, const struct x86_regs *regs, const struct datum *data,
		    unsigned n);

/* Returns a watch slot that is free, or caps.watches if none is. The caller holds d->lock. */
unsigned window_free_slot(const struct detect *d);

/*
 * Whether the CPU may be held now (CLOCK_MONOTONIC, ns). A CPU is held for at most three quarters of its time, averaged over
 * some seconds. Otherwise code that runs for 3 s without a call of the scheduler could take 20 s, and the guest's kernel would
 * report a soft lockup (Documentation/admin-guide/lockup-watchdogs.rst).
 */
bool window_cpu_may_be_held(struct detect *d, unsigned cpu, uint64_t now);

/*
 * Choose for how long a CPU is held in this context, in ns. 0: not at all. `confirming`: the hold is at a site of a suspected
 * race.
 */
uint64_t window_delay(struct detect *d, unsigned cpu, const struct guest_context *context, bool confirming, uint64_t now);

/* Undo window_prepare(): the window does not open. */
void window_drop(struct detect *d);

/* Whether config.overhead leaves CPU time for a window now. Always true without config.overhead. */
static inline bool window_affordable(const struct detect *d)
{
	return !d->config.overhead || d->hit.credit_ns > 0;
}

/*
 * Open the window that was prepared on `cpu`, if its context allows any delay. Returns what the target is to do with the CPU.
 * *sync is set when watches were set: the caller must then bring them into force on the other CPUs with target_watch_sync(),
 * without d->lock, and call window_settle() after that if the window is still open.
 */
struct target_action window_open(struct detect *d, unsigned cpu, bool *sync);

/*
 * The watches are in force on all CPUs: read the data again. Only a change after this read can be blamed on an unseen writer.
 * An earlier change was a race, too. But no watch could catch a CPU's write then, so it is unknown whether a CPU or a device
 * wrote.
 */
void window_settle(struct detect *d, struct window *w);

/*
 * Whether an open window would miss a conflict if `insn` were emulated with these registers: no watchpoint catches an emulated
 * access, so the window would blame an unseen writer for the change. Also true if the memory that `insn` accesses cannot be
 * determined. The CPU must then execute the instruction itself. An access of `insn` to its stack slot is ignored.
 */
bool window_would_miss(const struct detect *d, const struct insn *insn, const struct x86_regs *regs);

/* Whether the window's memory was changed by an unseen writer since window_settle(), or, without watches, since it opened. */
bool window_memory_changed(struct detect *d, const struct window *w);

/* Close the window: clear its watch slots and remove its point, so that the INT3 is gone before the held context runs on. */
void window_close(struct detect *d, struct window *w);

/*
 * An access by `cpu`, which is stopped with `regs`, conflicts with w's `datum`: capture both sides, close the window, release
 * the held CPU. `other` is the access if a sample point stopped the CPU (RACE_BY_POINT). NULL: a watchpoint stopped the CPU
 * (RACE_BY_WATCH), and the reporter determines the instruction that made the access.
 */
void window_conflict(struct detect *d, struct window *w, const struct datum *datum, unsigned cpu, const struct x86_regs *regs,
		     const struct datum *other);

/*
 * The same conflict as in window_conflict(), between two CPUs that are now held for the rendezvous number `rendezvous`: capture
 * both sides and queue the observation, but keep the window open and the CPUs held. `other` is not NULL.
 */
void window_rendezvous(struct detect *d, const struct window *w, const struct datum *datum, unsigned cpu,
		       const struct x86_regs *regs, const struct datum *other, uint64_t rendezvous);

struct device_conflict;

/*
 * A device's access conflicts with the window (device_find_conflict()): capture the sampled side, close the window, release the
 * CPU. Does nothing if the mapping of the sampled address has changed, since the sampled access would then go to other memory.
 */
void window_device_conflict(struct detect *d, struct window *w, const struct device_conflict *conflict);

/*
 * The hold of this open window is over: close the window, or let the hold continue. Returns true when *action is set: either
 * the window was closed, after a last comparison of the memory, or the early check found a running CPU, and the hold goes on.
 *
 * Returns false, with *action unchanged, when memory changed under a watch and no CPU has reported a watchpoint hit. The
 * caller must then have the other CPUs deliver their pending stops (target_barrier(), without d->lock), and call
 * window_expire() again if the window is still open. The second call returns true.
 */
bool window_expire(struct detect *d, struct window *w, struct target_action *action);

/*
 * The other CPUs did not deliver their stops in time, so the writer is unknown. Hold the CPU for another millisecond, after
 * which window_expire() decides again. After NOT_TOLD_MAX such holds, close the window and report nothing.
 */
void window_not_told(struct detect *d, struct window *w, struct target_action *action);

#endif

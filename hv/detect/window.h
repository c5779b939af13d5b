/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows: how they open and how they end. All of these functions are called under d->lock. */
#ifndef OUTRIDER_DETECT_WINDOW_H
#define OUTRIDER_DETECT_WINDOW_H

#include "hv/detect/state.h"

/*
 * Fill in the accesses that are about to be made at `point` by the CPU with these registers, located in memory. Accesses to the
 * CPU's own stack and accesses without memory are left out, and *on_stack says whether there were any of the former. Returns
 * how many there are.
 */
unsigned window_data(struct detect *d, const struct point *point, const struct x86_regs *regs, struct datum data[INSN_MAX_MEM],
		     bool *on_stack);

/*
 * Prepare a window on `cpu`, which has none, before the accesses data[0] to data[n-1], of which there is at least one. From
 * then on devices tell of accesses to this memory. Returns true when none is accessing it now: window_open() or window_drop()
 * must follow, without letting go of d->lock. Returns false when one is: that conflict is reported, and no CPU need be held for
 * it.
 */
bool window_prepare(struct detect *d, struct point *point, unsigned cpu, const struct x86_regs *regs, const struct datum *data,
		    unsigned n);

/* The window that was prepared is not to open. */
void window_drop(struct detect *d);

/* Whether config.overhead leaves CPU time for a window now. Without it that is always so. */
static inline bool window_affordable(const struct detect *d)
{
	return !d->config.overhead || d->credit_ns > 0;
}

/* How much CPU time the windows that are open may still take, in ns. */
double window_outstanding(const struct detect *d, uint64_t now);

/*
 * Open the window that was prepared on `cpu`, if any time is allowed for it. Returns what to do with the CPU. *sync says
 * whether watches were set: then they must be brought in force on the other CPUs with target_watch_sync(), without d->lock, and
 * window_settle() must be called after that if the window is still open.
 */
struct target_action window_open(struct detect *d, unsigned cpu, bool *sync);

/*
 * The watches are in force on all CPUs: read the data again, so that a change found at the end happened under their eyes. A
 * change before this moment was a race too, but could not be told from a device's.
 */
void window_settle(struct detect *d, struct window *w);

/*
 * Whether `insn`, about to be executed with these registers, may conflict with an open window by an access other than that to
 * its stack slot. No watchpoint sees what is carried out in a CPU's place, and the window would find a change that nobody made:
 * so the CPU must then execute the instruction itself.
 */
bool window_would_miss(const struct detect *d, const struct insn *insn, const struct x86_regs *regs);

/* Close the window: retire its watch slots and remove its point, so that its INT3 is gone before the held context goes on. */
void window_close(struct detect *d, struct window *w);

/*
 * A conflict of w's `datum` with an access by `cpu`, which is stopped with `regs`. Both sides are captured, the window is
 * closed, and the held CPU is let go. `other` is the access if it is known already (RACE_BY_POINT), or NULL if the reporter is
 * to attribute it (RACE_BY_WATCH).
 */
void window_conflict(struct detect *d, struct window *w, const struct datum *datum, unsigned cpu, const struct x86_regs *regs,
		     const struct datum *other);

/*
 * The same with `other` given, but only the observation: the window stays, for the meeting of that number.
 */
void window_meets(struct detect *d, const struct window *w, const struct datum *datum, unsigned cpu,
		  const struct x86_regs *regs, const struct datum *other, uint64_t meeting);

struct device_conflict;

/*
 * A conflict with a device (device_meets()). The sampled side is captured, the window is closed, and the CPU is let go. Nothing
 * of this happens when the sampled access would go to other memory by now, because its mapping has changed.
 */
void window_device_conflict(struct detect *d, struct window *w, const struct device_conflict *conflict);

/*
 * The hold of this window, which is open, is over: decide what comes next. Returns true and sets *action when that is decided:
 * either the window was closed, after a look for changed memory, or this was the early look and the CPU is to be held on.
 *
 * Returns false and leaves *action as it is when nothing can be decided yet: memory was changed under a watch, and nobody has
 * reported it. Then the other CPUs must deliver the stops they have (target_barrier(), without d->lock), and window_expire()
 * must be called again if the window is still open after that. The second call returns true.
 */
bool window_expire(struct detect *d, struct window *w, struct target_action *action);

/*
 * The other CPUs did not deliver all of their stops in time, so it is not known who changed the memory. The CPU is held on for
 * a moment, and window_expire() decides anew. After many such moments the window is closed, and nothing is reported.
 */
void window_not_told(struct detect *d, struct window *w, struct target_action *action);

#endif

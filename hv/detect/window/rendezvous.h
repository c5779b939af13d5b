/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A rendezvous (hv/race/rendezvous.h) holds two CPUs directly before conflicting accesses, and stops all other CPUs, so that
 * the sink can copy the machine in this state (detect_sink.rendezvous). There is one rendezvous at a time.
 *
 * The first CPU is held in a window. When a second CPU stops before an access that conflicts with the window, the second CPU's
 * callback begins a rendezvous, and holds the second CPU as well. Both CPUs still take interrupts if these are on. The
 * rendezvous thread then makes the machine stand still, checks that both CPUs are before their accesses, and calls the sink.
 * The thread has 50 ms for this, or 10 ms if one of the two CPUs has interrupts off.
 *
 * The rendezvous is skipped, and both CPUs are released, in any of these cases: that time is over; one of the two CPUs has
 * moved; another context must execute the second CPU's instruction; another context must execute the first CPU's instruction,
 * and that access cannot be emulated; the first CPU's window closes for another reason, such as the end of sampling.
 *
 * The caller of each function except rendezvous_start() and rendezvous_stop() holds d->lock.
 */
#ifndef OUTRIDER_DETECT_WINDOW_RENDEZVOUS_H
#define OUTRIDER_DETECT_WINDOW_RENDEZVOUS_H

#include "hv/detect/core/state.h"

/*
 * Start the rendezvous thread, if detect_sink.rendezvous is set and stops of the target are cheap (not caps.costly_stops).
 * Returns 0, or -1 with EXIT_INTERNAL in `err`.
 */
int rendezvous_start(struct detect *d, struct err *err);

/* End the thread. A rendezvous that is under way stays; window_close() ends it. */
void rendezvous_stop(struct detect *d);

/* The second side of a conflict with an open window: a CPU that hit a sample point or a lock hook, and its access. */
struct other_side {
	struct point *point;
	unsigned cpu;
	const struct x86_regs *regs;
	const struct datum *datum;
};

/*
 * w's `datum` and the access of `other` conflict: begin a rendezvous, if one is wanted and possible. Returns the number of the
 * rendezvous; *action then holds the other CPU, and the window and both points stay. Returns 0 if there is no rendezvous.
 */
uint64_t rendezvous_begin(struct detect *d, struct window *w, const struct datum *datum, const struct other_side *other,
			  struct target_action *action);

/*
 * The CPU of window `w` is held before the first of two sections, and the CPU of `other` is before a call that takes the same
 * lock. other->datum is the lock. Begin a rendezvous of sections, if it is wanted and possible. Returns whether it began;
 * *action then holds the other CPU.
 */
bool rendezvous_begin_sections(struct detect *d, struct window *w, const struct rendezvous_sections *sections,
			       const struct other_side *other, struct target_action *action);

/*
 * A CPU hit a lock hook. Returns true if this CPU is the second CPU of a rendezvous of sections, and is back from an
 * interrupt; *action then holds the CPU again.
 */
bool rendezvous_sections_again(struct detect *d, unsigned cpu, const struct x86_regs *regs, struct target_action *action);

/*
 * A CPU hit `point`. Returns true if the second CPU of a rendezvous is held there. *action then holds this CPU again if it is
 * that second CPU; otherwise the rendezvous is skipped, and *action lets this CPU go on.
 */
bool rendezvous_hit_again(struct detect *d, const struct point *point, unsigned cpu, const struct x86_regs *regs,
			  struct target_action *action);

/*
 * The hold of a CPU ended. Returns true if the CPU is in a rendezvous. *action then holds the CPU for the rest of the
 * rendezvous' time; if that time is over, the rendezvous is skipped, and *action lets the CPU go on.
 */
bool rendezvous_hold_end(struct detect *d, unsigned cpu, struct target_action *action);

#endif

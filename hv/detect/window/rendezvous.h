/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rendezvous (hv/race/rendezvous.h): two CPUs are held before conflicting accesses, and the machine stands still while the
 * detector's caller copies it. One rendezvous at a time.
 *
 * A CPU's callback begins a rendezvous. The second CPU is held like the first: it takes interrupts if it had them on. The
 * rendezvous thread makes the machine stand still, checks that both CPUs are still before their accesses, and calls the sink.
 * It has 50 ms for this, or 10 ms if a CPU has interrupts off. The rendezvous is skipped, and both CPUs are released, in any of
 * these cases: that time is over; a CPU has moved; another context must execute the second CPU's instruction; another context
 * must execute the first CPU's instruction, and that access cannot be emulated; the first CPU's window closes for another
 * reason, such as the end of sampling.
 *
 * The caller of each function except rendezvous_start() and rendezvous_stop() holds d->lock.
 */
#ifndef OUTRIDER_DETECT_WINDOW_RENDEZVOUS_H
#define OUTRIDER_DETECT_WINDOW_RENDEZVOUS_H

#include "hv/detect/core/state.h"

/*
 * Start the rendezvous thread, if the caller takes rendezvous (detect_sink.rendezvous) and the target can stop cheaply. Returns
 * 0, or -1 with EXIT_INTERNAL in `err`.
 */
int rendezvous_start(struct detect *d, struct err *err);

/* End the thread. A rendezvous that is under way stays; window_close() ends it. */
void rendezvous_stop(struct detect *d);

/* One side of a conflict, at an open window: a CPU that hit a sample point, and its conflicting access. */
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

/* A CPU hit `point`. Returns true if the second CPU of a rendezvous is held there; *action is then set for this CPU. */
bool rendezvous_hit_again(struct detect *d, const struct point *point, unsigned cpu, const struct x86_regs *regs,
			  struct target_action *action);

/* The hold of a CPU ended. Returns true if the CPU is in a rendezvous; *action is then set for it. */
bool rendezvous_hold_end(struct detect *d, unsigned cpu, struct target_action *action);

#endif

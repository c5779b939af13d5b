/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Meetings (hv/race/meeting.h): two CPUs are held before conflicting accesses, and the machine is made to stand still while the
 * caller of the detector copies it. There is one meeting at a time.
 *
 * A CPU's callback begins a meeting. The second CPU is held like the first one: it takes its interrupts, if it had them on. A
 * thread of its own makes the machine stand still, looks whether both CPUs still stand before their accesses, and calls the
 * sink. Until then the meeting has some ms, and less if a CPU has interrupts off. After that, or when a CPU has moved, or when
 * another context must pass the second CPU's instruction, or the first's and its access cannot be carried out in its place, the
 * meeting is skipped, and both CPUs go on.
 *
 * The functions but meet_start() and meet_stop() are called under d->lock.
 */
#ifndef OUTRIDER_DETECT_MEET_H
#define OUTRIDER_DETECT_MEET_H

#include "hv/detect/state.h"

/* Start the thread, if the sink wants meetings and the target can have them. Returns 0, or -1 with EXIT_INTERNAL in `err`. */
int meet_start(struct detect *d, struct err *err);

/* End the thread. A meeting that is under way may stay: window_close() ends it. */
void meet_stop(struct detect *d);

/* One side as it comes to a window: a CPU that stopped at a point, and the access there that conflicts. */
struct meet_side {
	struct point *point;
	unsigned cpu;
	const struct x86_regs *regs;
	const struct datum *datum;
};

/*
 * The access of w's `datum` and that of `other` conflict. Begin a meeting, if one is wanted and can be: then its number is
 * returned, the window and both points stay, and *action holds the other CPU. Returns 0 when there is none.
 */
uint64_t meet_begin(struct detect *d, struct window *w, const struct datum *datum, const struct meet_side *other,
		    struct target_action *action);

/* A CPU stopped at `point`. True: the second CPU of a meeting is held there, and *action says what to do. */
bool meet_hit_again(struct detect *d, const struct point *point, unsigned cpu, const struct x86_regs *regs,
		    struct target_action *action);

/* The hold of a CPU has ended. True: it is in a meeting, and *action says what to do. */
bool meet_hold_end(struct detect *d, unsigned cpu, struct target_action *action);

#endif

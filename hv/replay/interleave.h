/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs two functions that take the same lock in one order, by single steps of a copy of the machine. Function A (side 0) has
 * two critical sections of the lock, function B (side 1) has one. The order depends on no clock: a side runs alone until it is
 * at the end of its region, or until A is at the call that begins its second section. At that call A does not hold the lock, so
 * B waits for the lock only if A also holds it outside of these two sections.
 */
#ifndef OUTRIDER_REPLAY_INTERLEAVE_H
#define OUTRIDER_REPLAY_INTERLEAVE_H

#include "hv/race/rendezvous.h"
#include "hv/race/section_replay.h"
#include "hv/replay/order.h"

/*
 * Run an order to its end, on a copy in which both sides are before their calls. `order->first` is not used. Only the order
 * SECTION_ORDER_BETWEEN sets *reached: true if A came to its second section of this lock, otherwise false. If A did not, the
 * order ends at the end of A's region, and B has not run.
 */
void interleave_run(const struct order *order, const struct rendezvous_sections *sections, enum section_order which,
		    const struct copy_ops *ops, struct order_run *run, bool *reached);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Run two functions in three orders, in processes of their own, and compare the results: A then B, B then A (the serial
 * orders), and B between two critical sections of A. The functions are those of a rendezvous of sections.
 */
#ifndef OUTRIDER_REPLAY_SECTION_ORDERS_H
#define OUTRIDER_REPLAY_SECTION_ORDERS_H

#include "hv/race/section_replay.h"
#include "hv/replay/run.h"

#define SECTION_ORDERS_RUNS (2 * SECTION_ORDERS)

/*
 * Run the orders from the RAM of `plan`, which stays unchanged, and set *out. Each order is run once. If the order with B in
 * between ends in trouble, or in another state than both serial orders, each order is run once more. These second runs are
 * followed by a free run; they show which differences are noise, and whether trouble follows later. The texts in *out may
 * contain any bytes from the guest.
 */
void section_orders_run(const struct run_plan *plan, struct section_replay_instance *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Run both orders of a rendezvous, each twice, in sequence, in processes of their own; and compare the results. */
#ifndef OUTRIDER_REPLAY_ORDERS_H
#define OUTRIDER_REPLAY_ORDERS_H

#include "hv/race/replay.h"
#include "hv/replay/run.h"

#define ORDERS_RUNS 4 /* two runs of each order */

/* Returns the time limit of one run in seconds: many times what the slowest host needs. */
time_t orders_run_seconds(const struct replay_config *config);

/* Remove the detector's breakpoints from the guest's memory, and make the guest's kernel print all messages on its console. */
void orders_prepare_ram(const struct ram *ram, const struct rendezvous *m, const struct replay_config *config);

/* Run one order once in a process of its own (run_order()). *out is in memory that is shared with that process. */
void orders_run_one(const struct run_plan *plan, unsigned first, bool go_on, struct run_result *out);

/*
 * Run both orders from the RAM of `plan`, which stays unchanged, and compare them. *out gets the outcome, which is
 * REPLAY_CANNOT_LOAD if a run could not be made. The texts in *out may contain any bytes from the guest.
 */
void orders_run(const struct run_plan *plan, struct replay_instance *out);

#endif

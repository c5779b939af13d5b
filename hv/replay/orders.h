/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Both orders of a meeting, each run twice in processes of their own, one after the other, and what differs between them. */
#ifndef OUTRIDER_REPLAY_ORDERS_H
#define OUTRIDER_REPLAY_ORDERS_H

#include "hv/race/replay.h"
#include "hv/replay/run.h"

#define ORDERS_RUNS 4 /* two of each order */

/* How long one run may take, many times what the slowest host was seen to need for it. In seconds. */
time_t orders_run_seconds(const struct replay_config *config);

/* Bring the guest's memory to what the guest has written there, and let its console say all. */
void orders_prepare_ram(const struct ram *ram, const struct meeting *m, const struct replay_config *config);

/*
 * Run both orders from the RAM as it is, which stays as it is, and compare them. `out` is the instance, which is
 * REPLAY_CANNOT_LOAD when a run could not be made. Its texts are the guest's bytes still.
 */
void orders_run(const struct run_plan *plan, struct replay_instance *out);

#endif

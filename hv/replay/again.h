/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs both orders of a saved rendezvous again and again, each time from the same RAM. */
#ifndef OUTRIDER_REPLAY_AGAIN_H
#define OUTRIDER_REPLAY_AGAIN_H

#include "hv/replay/replay.h"
#include "hv/replay/run.h"

/*
 * Begin to run both orders in a child, as replay_start() does, but from a state and RAM that this process owns. The caller must
 * not change the state or the RAM until the job has ended. The RAM must be prepared by orders_prepare_ram(). Returns 0, or -1
 * with `err` set and no job begun. The caller ends the job by replay_finish(), which waits for the result and for the child's
 * end. The child runs in the sandbox SANDBOX_COPY.
 */
int again_start(const struct run_plan *plan, struct replay_job *job, struct err *err);

#endif

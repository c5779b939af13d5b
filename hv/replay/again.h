/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repeated runs of both orders of a saved rendezvous, each from the same RAM. */
#ifndef OUTRIDER_REPLAY_AGAIN_H
#define OUTRIDER_REPLAY_AGAIN_H

#include "hv/replay/replay.h"
#include "hv/replay/run.h"

/*
 * Begin to run both orders in a child, as replay_start() does, but from a state and RAM that this process owns and that stay
 * unchanged. The RAM must be prepared (orders.h). Returns 0, or -1 with `err` set and no job begun. The caller ends the job by
 * replay_finish(), which waits. The child is confined as a thread of SANDBOX_COPY.
 */
int again_start(const struct run_plan *plan, struct replay_job *job, struct err *err);

#endif

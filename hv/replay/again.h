/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Both orders of a meeting that was kept, run again from the same RAM as often as wanted. */
#ifndef OUTRIDER_REPLAY_AGAIN_H
#define OUTRIDER_REPLAY_AGAIN_H

#include "hv/replay/replay.h"
#include "hv/replay/run.h"

/*
 * Begin to run both orders in a child, as replay_start() does, but from a state and RAM that are this process's own and stay as
 * they are. The RAM is prepared (orders.h). Returns 0, or -1 with `err` set and nothing begun. The caller ends the job by
 * replay_finish(), which waits. The child is confined as a thread of the kind copy.
 */
int again_start(const struct run_plan *plan, struct replay_job *job, struct err *err);

#endif

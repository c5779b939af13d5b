/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that run copies. Each dies with its parent, and has a time limit. */
#ifndef OUTRIDER_REPLAY_PROCESS_H
#define OUTRIDER_REPLAY_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "hv/base/err.h"

/* Set a timer that kills this process after `seconds`, whatever the process does. Exits at once if the timer cannot be set. */
void process_end_after(time_t seconds);

/*
 * Wait for the end of a child, for at most `milliseconds`. Returns whether it has ended. A child that has not ended is left
 * running: the sandbox does not allow killing it, and a guest that has taken it over can keep it from ending.
 */
bool process_ended_within(pid_t pid, unsigned milliseconds);

/* A process that was started. */
struct process {
	pid_t pid;
	struct err *left; /* The error of act(), in shared memory. */
};

/*
 * Call act() in a new process with a limit of `seconds`, 0 for none. Returns 0, or -1 with `err` set and no process started.
 * process_wait() must follow on success.
 */
int process_start(struct process *p, int (*act)(void *ctx, struct err *err), void *ctx, time_t seconds, struct err *err);

/*
 * Wait for the end of the process. Returns 0, or -1 with `err` set. `err` has the error of act(), made printable, or says that
 * the process died or exceeded its limit. act() returns further results in shared memory. If a guest ran in the process, these
 * results must not be trusted.
 */
int process_wait(struct process *p, struct err *err);

/* Start a process, and wait for its end. Returns what process_start() or process_wait() returns. */
int process_run(int (*act)(void *ctx, struct err *err), void *ctx, time_t seconds, struct err *err);

#endif

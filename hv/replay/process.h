/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that run copies. Each dies with its parent, and has a limit of time. */
#ifndef OUTRIDER_REPLAY_PROCESS_H
#define OUTRIDER_REPLAY_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "hv/base/err.h"

/*
 * In the child of a fork: die with the thread of `parent` that forked. The process ends at once if that is over already.
 */
void process_die_with(pid_t parent);

/* Kill this process after so many seconds, whatever it does. It ends at once if that cannot be. */
void process_end_after(time_t seconds);

/*
 * Wait for the end of a child, for `milliseconds` at most. Returns whether it has ended. One that has not is left alone: the
 * sandbox lets nobody kill it, and a guest that has taken it over can keep it from ending.
 */
bool process_ended_within(pid_t pid, unsigned milliseconds);

/* A process that was started. */
struct process {
	pid_t pid;
	struct err *left; /* What act() has said of its failure, in memory that is shared. */
};

/*
 * Call act() in a new process with a limit of `seconds`, 0 for none. Returns 0, or -1 with `err` set and nothing started.
 * process_wait() must follow.
 */
int process_start(struct process *p, int (*act)(void *ctx, struct err *err), void *ctx, time_t seconds, struct err *err);

/*
 * Wait for the end of the process. Returns 0, or -1 with `err` set: as act() has set it, made printable, or because the process
 * died or took too long. What else act() has to tell it leaves in memory that is shared, and none of that is to be trusted when
 * a guest ran in the process.
 */
int process_wait(struct process *p, struct err *err);

/* Start a process, and wait for its end. Returns what these two say. */
int process_run(int (*act)(void *ctx, struct err *err), void *ctx, time_t seconds, struct err *err);

#endif

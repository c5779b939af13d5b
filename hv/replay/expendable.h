/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When memory is out, the kernel should kill copies of the machine, and not the run. A process says so by opening a file in
 * /proc to write, which the sandbox forbids. So this is one small process outside of the sandbox, which does nothing but that,
 * and for children of its parent only, since its parent runs a guest.
 */
#ifndef OUTRIDER_REPLAY_EXPENDABLE_H
#define OUTRIDER_REPLAY_EXPENDABLE_H

#include <stdbool.h>
#include <sys/types.h>

#include "hv/base/err.h"

struct expendable {
	pid_t pid; /* 0: there is none. */
	int ask, answer;
	unsigned owed; /* answers that did not come in time */
};

/*
 * Start the process. It dies with the thread that calls this, which is before there is a machine or a sandbox. Returns 0, or -1
 * with `err` set. expendable_stop() ends it.
 */
int expendable_start(struct expendable *e, struct err *err);

/*
 * Make a child of this process what the kernel kills first, and with it what it forks from then on. Waits some microseconds,
 * and a second at most. One thread at a time. Returns whether it is so.
 */
bool expendable_mark(struct expendable *e, pid_t child);

/* End the process. One that was not started (all zero) is fine. */
void expendable_stop(struct expendable *e);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Both orders of a race, run on a copy of the machine. This header is all that a caller needs besides hv/race/replay.h.
 *
 * At a meeting (hv/race/meeting.h), while the machine stands still, replay_start() saves its state and forks. The parent goes
 * on at once, and its guest notices nothing but some milliseconds. The child keeps the guest's RAM as it was, and starts a
 * process of its own for each of four runs, two of each order, one after the other. The runs end at the ends of both regions,
 * where they are compared. The first run of each order then runs on freely for a while, and what the guest says on its console
 * is searched for trouble. What came of it comes back by a pipe.
 *
 * The child and its processes have a limit of time, yield to others, and die with the thread that called replay_start().
 */
#ifndef OUTRIDER_REPLAY_REPLAY_H
#define OUTRIDER_REPLAY_REPLAY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "hv/base/err.h"
#include "hv/race/meeting.h"
#include "hv/race/replay.h"
#include "hv/replay/config.h"
#include "hv/replay/keep.h"
#include "hv/vmm/vmm.h"

/* A replay under way. */
struct replay_job {
	pid_t pid;
	/* Readable when there is a result, or when the child has died. */
	int fd;
	/* Closed by replay_go(). -1: it is. */
	int go;
};

/*
 * Save the state of the machine, which stands still, and of which `held` is as for vm_state_save(), and begin to run both
 * orders of the meeting, as soon as replay_go() is called. `keep` may be NULL. Returns 0, or -1 with `err` set and nothing
 * begun. The caller waits for job->fd, and ends the job by replay_finish().
 */
int replay_start(struct vm *vm, unsigned held, const struct meeting *m, const struct replay_config *config,
		 const struct replay_keep *keep, struct replay_job *job, struct err *err);

/*
 * Let the child go on to run the orders, in processes that it forks. Until then the caller can change what these will inherit.
 */
void replay_go(struct replay_job *job);

/*
 * Read the result once job->fd is readable, and end the job. A child that died without a result is REPLAY_CANNOT_LOAD. What the
 * child says is not trusted: it ran a guest. `out` is the instance, whose side 0 is the meeting's. Its texts are printable. The
 * child's end is waited for as by replay_drop().
 */
void replay_finish(struct replay_job *job, struct replay_instance *out);

/*
 * End a job without its result, when the thread that called replay_start() has ended: the child dies with that thread. This
 * waits for its end, but for a minute at most: a child that a guest has taken over may not end. It is left alone then.
 */
void replay_drop(struct replay_job *job);

#endif

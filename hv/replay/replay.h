/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Both orders of a race, run on a copy of the machine. This header is all that a caller needs besides hv/race/replay.h.
 *
 * At a rendezvous (hv/race/rendezvous.h), while the machine stands still, replay_start() saves its state and forks. The parent
 * continues at once; its guest is delayed by some milliseconds. The child keeps the guest's RAM unchanged, and runs four
 * processes in sequence, one for each run: two runs of each order. A run is compared at the ends of both regions. The first run
 * of each order then runs freely, and its console output is searched for trouble. The result comes back by a pipe.
 *
 * The child and its processes have a time limit, run at low priority, and die with the thread that called replay_start().
 */
#ifndef OUTRIDER_REPLAY_REPLAY_H
#define OUTRIDER_REPLAY_REPLAY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "hv/base/err.h"
#include "hv/race/rendezvous.h"
#include "hv/race/replay.h"
#include "hv/race/section_replay.h"
#include "hv/replay/config.h"
#include "hv/replay/keep.h"
#include "hv/vmm/vmm.h"

/* A replay in progress. */
struct replay_job {
	pid_t pid;
	/* Readable when there is a result, or when the child has died. */
	int fd;
	/* The pipe that replay_go() closes to let the child begin. -1: closed. */
	int go;
};

/*
 * Save the state of the machine, which must stand still, and fork the child, which runs both orders of the rendezvous after
 * replay_go(). `held` is as for vm_state_save(). `keep` may be NULL. Returns 0, or -1 with `err` set and no job begun. The
 * caller waits for job->fd, and ends the job by replay_finish().
 */
int replay_start(struct vm *vm, unsigned held, const struct rendezvous *m, const struct replay_config *config,
		 const struct replay_keep *keep, struct replay_job *job, struct err *err);

/*
 * Let the child run the orders, in processes that it forks. Before this call, the caller can change what these processes
 * inherit from the child, such as the child's OOM score (expendable.h).
 */
void replay_go(struct replay_job *job);

/*
 * End a job for which replay_go() was not called: tell the child to exit, so that it runs neither order and there is no result.
 * Waits at most 60 s for the child's end, like replay_drop().
 */
void replay_forget(struct replay_job *job);

/*
 * Read the result once job->fd is readable, and end the job. If the child died without a result, the result is
 * REPLAY_CANNOT_LOAD. The child's data is not trusted, because a guest ran in the child. `out` becomes the instance; its side 0
 * is side 0 of the rendezvous. The texts in `out` are printable. Waits for the child's end as replay_drop() does.
 */
void replay_finish(struct replay_job *job, struct replay_instance *out);

/* Do the same as replay_finish(), for a rendezvous of sections. If the child died without a result, the outcome is unknown. */
void replay_finish_sections(struct replay_job *job, struct section_replay_instance *out);

/*
 * End a job without its result, after the thread that called replay_start() has ended: the child dies with that thread. Waits
 * at most 60 s for the child's end. A child that a guest has taken over may not end, and is left running.
 */
void replay_drop(struct replay_job *job);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that holds a copy of the machine, and has all runs of it made and compared. */
#ifndef OUTRIDER_REPLAY_HOLDER_H
#define OUTRIDER_REPLAY_HOLDER_H

#include "hv/race/meeting.h"
#include "hv/replay/config.h"
#include "hv/replay/keep.h"
#include "hv/replay/run.h"
#include "hv/vmm/snapshot/snapshot.h"

/* The holder's ends of its pipes. */
struct holder_pipes {
	/* It waits for the end of this one before it forks. */
	int go;
	/* The instance is written here. */
	int out;
};

/*
 * To be called in the child of a fork, whose parent is `parent`: run both orders, write a scenario if `keep` wants one, write a
 * struct replay_instance to pipes->out, and end the process. `state` was saved from `vm`.
 */
_Noreturn void holder_run(pid_t parent, struct vm *vm, const struct vm_state *state, const struct meeting *m,
			  const struct replay_config *config, const struct replay_keep *keep, const struct holder_pipes *pipes);

/*
 * In a process that dies with its parent: run both orders of a machine whose RAM is prepared, write a scenario if `keep`, which
 * may be NULL, wants one, write a struct replay_instance to `out`, and end the process.
 */
_Noreturn void holder_run_orders(const struct run_plan *plan, const struct replay_keep *keep, int out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The holder: the process that holds a copy of the machine, forks a process for each run, and compares the runs. */
#ifndef OUTRIDER_REPLAY_HOLDER_H
#define OUTRIDER_REPLAY_HOLDER_H

#include "hv/race/rendezvous.h"
#include "hv/replay/config.h"
#include "hv/replay/keep.h"
#include "hv/replay/run.h"
#include "hv/vmm/snapshot/snapshot.h"

/* The holder's ends of its pipes. */
struct holder_pipes {
	/*
	 * The holder waits for the other end of this pipe to be closed, and then forks the processes that run the copy. If a
	 * byte comes instead, the holder exits.
	 */
	int go;
	/* The holder writes the instance here. */
	int out;
};

/*
 * To be called in the child of a fork, whose parent is `parent`: run both orders, write a scenario if `keep` wants this
 * instance, write a struct replay_instance to pipes->out, and exit. `state` was saved from `vm`. In a rendezvous of sections:
 * run its three orders, write a struct section_replay_instance, and no scenario.
 */
_Noreturn void holder_run(pid_t parent, struct vm *vm, const struct vm_state *state, const struct rendezvous *m,
			  const struct replay_config *config, const struct replay_keep *keep, const struct holder_pipes *pipes);

/*
 * To be called in a process that dies with its parent: run both orders of a machine whose RAM is prepared, write a scenario if
 * `keep` wants this instance, write a struct replay_instance to `out`, and exit. `keep` NULL: write no scenario.
 */
_Noreturn void holder_run_orders(const struct run_plan *plan, const struct replay_keep *keep, int out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the kernel kill copies of the machine instead of the run when the host runs out of memory. A process requests that by
 * writing to a file in /proc, which the sandbox forbids. So a small helper process outside of the sandbox writes the file. The
 * helper accepts only children of its own parent, because the parent runs a guest and so is not trusted.
 */
#ifndef OUTRIDER_REPLAY_EXPENDABLE_H
#define OUTRIDER_REPLAY_EXPENDABLE_H

#include <stdbool.h>
#include <sys/types.h>

#include "hv/base/err.h"
#include "hv/sandbox/helper.h"

struct expendable {
	struct helper helper; /* All zero: no helper runs. */
	unsigned owed;	      /* number of answers that the helper has not sent yet */
};

/*
 * Start the helper, before there is a machine or a sandbox. The helper dies with the thread that calls this function. Returns
 * 0, or -1 with `err` set. expendable_stop() ends it.
 */
int expendable_start(struct expendable *e, struct err *err);

/*
 * Make a child of this process the first choice of the OOM killer, along with the processes that the child forks afterwards.
 * Takes some microseconds, and 1 s at most. Must be called by one thread at a time. Returns true on success.
 */
bool expendable_mark(struct expendable *e, pid_t child);

/* End the helper. Does nothing for a zeroed struct. */
void expendable_stop(struct expendable *e);

#endif

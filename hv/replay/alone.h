/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs one order of a rendezvous once, in a process of its own and without a comparison; or only makes a copy of the machine in
 * which both sides are before their accesses.
 */
#ifndef OUTRIDER_REPLAY_ALONE_H
#define OUTRIDER_REPLAY_ALONE_H

#include "hv/replay/run.h"

/* The result of one order alone. */
struct alone {
	/* The order's regions, the state of the machine at the end of its free run, and the first line of trouble. */
	struct replay_order order;
	/*
	 * The failure that would prevent a comparison of this run with another, or REPLAY_NO_FAILURE (alone_run() compares
	 * nothing). `why` describes the failure.
	 */
	enum replay_failure failure;
	char why[REPLAY_TEXT_MAX];
};

/*
 * Run only the order in which the access of side `first` goes first, and run it once. The texts of `out` are printable. Returns
 * 0, or -1 with `err` set when the copy could not be made or run, or when plan->look() failed.
 */
int alone_run(const struct run_plan *plan, unsigned first, struct alone *out, struct err *err);

/*
 * Call plan->look() in a process of its own, on a copy in which both sides are before their accesses. Returns 0, or -1 with
 * `err` set.
 */
int alone_before(const struct run_plan *plan, struct err *err);

#endif

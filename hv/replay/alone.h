/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One order of a meeting, run once in a process of its own and compared with nothing; or none. */
#ifndef OUTRIDER_REPLAY_ALONE_H
#define OUTRIDER_REPLAY_ALONE_H

#include "hv/replay/run.h"

/* What came of one order alone. */
struct alone {
	/* Its regions, how the machine was at the end of its free run, and the first line of trouble. */
	struct replay_order order;
	/* Why its end could not be compared with another one, and the same for people. */
	enum replay_failure failure;
	char why[REPLAY_TEXT_MAX];
};

/*
 * Run only the order that lets the access of side `first` go first, once. The texts of `out` are printable. Returns 0, or -1
 * with `err` set when the copy could not be made or run, or plan->look() failed.
 */
int alone_run(const struct run_plan *plan, unsigned first, struct alone *out, struct err *err);

/* Let plan->look() look at the copy as it is before both accesses, in a process. Returns 0, or -1 with `err` set. */
int alone_before(const struct run_plan *plan, struct err *err);

#endif

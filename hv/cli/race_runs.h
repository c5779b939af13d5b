/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of the runs that a report's races are from. */
#ifndef OUTRIDER_CLI_RACE_RUNS_H
#define OUTRIDER_CLI_RACE_RUNS_H

#include "hv/base/err.h"
#include "hv/race/lock_record.h"
#include "hv/report/run_facts.h"

/* The runs, in the order of the files. All zero: none. */
struct race_runs {
	/* The facts of `count` runs. */
	struct run_facts *list;
	/* What each run knows of locks. All zero: it did not follow them. */
	struct lock_record *locks;
	/* The path of the file that each run was read from. The strings are the caller's. */
	const char **files;
	size_t count;
};

/* Make room for `most` runs. Returns 0, or -1 with EXIT_INTERNAL. race_runs_free() must follow in both cases. */
int race_runs_init(struct race_runs *runs, size_t most, struct err *err);

/* Free all that is known of the runs. None are left. */
void race_runs_free(struct race_runs *runs);

/* Whether any of the runs followed locks. */
bool race_runs_followed_locks(const struct race_runs *runs);

/* Returns the banner of the first run that knows its kernel, or NULL. It belongs to `runs`. */
const char *race_runs_kernel(const struct race_runs *runs);

#endif

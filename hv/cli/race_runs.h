/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the facts about the runs that the races of a report come from. */
#ifndef OUTRIDER_CLI_RACE_RUNS_H
#define OUTRIDER_CLI_RACE_RUNS_H

#include "hv/base/err.h"
#include "hv/race/lock_record.h"
#include "hv/report/modules.h"
#include "hv/report/run_facts.h"

/* The runs, in the order of the files. All zero: none. */
struct race_runs {
	/* The facts of `count` runs. */
	struct run_facts *list;
	/* The lock record of each run. All zero: the run did not follow locks. */
	struct lock_record *locks;
	/* The modules that the races of each run are in. */
	struct report_modules *modules;
	/* The path of the file that each run was read from. The caller owns the strings. */
	const char **files;
	size_t count;
};

/* Allocate room for `most` runs. Returns 0, or -1 with EXIT_INTERNAL. In both cases call race_runs_free(). */
int race_runs_init(struct race_runs *runs, size_t most, struct err *err);

/* Free all facts of the runs. `runs` is then empty. */
void race_runs_free(struct race_runs *runs);

/*
 * Returns whether all runs that have the module ("": the kernel itself) have the same build of it, by its build ids. Returns
 * false if a build id is unknown, or if no run of one of the lists has the module.
 */
bool race_runs_same_build(const struct race_runs *a, const struct race_runs *b, const char *module);

/* Returns whether any of the runs followed locks. */
bool race_runs_followed_locks(const struct race_runs *runs);

/* Returns the version line of the first kernel that a run has recorded, or NULL. `runs` owns the string. */
const char *race_runs_kernel(const struct race_runs *runs);

#endif

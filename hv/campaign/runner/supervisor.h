/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The supervisor: a process between the runner and a run's program, which kills the program and its children if the runner dies
 * (child.h). Only child.c calls supervisor_main().
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_SUPERVISOR_H
#define OUTRIDER_CAMPAIGN_RUNNER_SUPERVISOR_H

#include <stdbool.h>
#include <stdnoreturn.h>

#include "hv/campaign/plan/plan.h"
#include "hv/campaign/runner/cgroup.h"

struct child_config {
	char *const *argv;  /* ended by NULL; argv[0] is a path */
	const char *folder; /* folder of the run; the program writes to stdout.log and stderr.log in it */
	const struct plan_limits *limits;
	/* Limit the size of each file to limits->output. Not set if the program writes disk images, which can be larger. */
	bool limit_files;
	/*
	 * prepare() is called before the program starts. finish() is called after the program has ended, or if the program was
	 * not started, and can be called more than once. Both may be NULL.
	 */
	int (*prepare)(void *ctx, struct err *err);
	void (*finish)(void *ctx);
	void *ctx;
};

struct supervisor {
	const struct child_config *config;
	const struct cgroup *group;
	int out, log;	  /* descriptors of the files for standard output (`out`) and standard error (`log`) of the program */
	int life, result; /* the supervisor's ends of the two pipes */
};

/* Main function of the supervisor after fork(): start the program, and wait until it or the runner ends. */
noreturn void supervisor_main(const struct supervisor *k);

#endif

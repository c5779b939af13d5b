/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process between the runner and a run's program: see child.h, whose functions are its only callers. */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_SUPERVISOR_H
#define OUTRIDER_CAMPAIGN_RUNNER_SUPERVISOR_H

#include <stdbool.h>
#include <stdnoreturn.h>

#include "hv/campaign/plan/plan.h"
#include "hv/campaign/runner/cgroup.h"

struct child_config {
	char *const *argv;  /* ended by NULL; argv[0] is a path */
	const char *folder; /* of the run; output goes to its stdout.log and stderr.log */
	const struct plan_limits *limits;
	/* Limit the size of each file to limits->output. Not set if the program writes disk images, which can be larger. */
	bool limit_files;
	/* The supervisor calls prepare() before the program starts, and finish() after it ended. NULL: nothing to do. */
	int (*prepare)(void *ctx, struct err *err);
	void (*finish)(void *ctx);
	void *ctx;
};

struct supervisor {
	const struct child_config *config;
	const struct cgroup *group;
	int out, log;	  /* files for standard output and standard error of the program */
	int life, result; /* ends of pipes */
};

/* Main function of the supervisor after fork(): start the program, and wait until it or the runner ends. */
noreturn void supervisor_main(const struct supervisor *k);

#endif

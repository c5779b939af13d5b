/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process between the runner and the program of a run: see child.h, whose functions are its only callers. */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_KEEPER_H
#define OUTRIDER_CAMPAIGN_RUNNER_KEEPER_H

#include <stdbool.h>
#include <stdnoreturn.h>

#include "hv/campaign/plan/plan.h"
#include "hv/campaign/runner/cgroup.h"

struct child_config {
	char *const *argv;  /* NULL ends it. argv[0] is a path. */
	const char *folder; /* of the run; its stdout.log and stderr.log take the output */
	const struct plan_limits *limits;
	bool limit_files; /* The program writes no file that may be longer than the limit of its output. */
	/* Called in the keeper before the program starts, and after it has ended. NULL: nothing is. */
	int (*prepare)(void *ctx, struct err *err);
	void (*finish)(void *ctx);
	void *ctx;
};

struct keeper {
	const struct child_config *config;
	const struct cgroup *group;
	int out, log;	  /* what the program gets as standard output and standard error */
	int life, result; /* ends of pipes */
};

/* What the keeper does behind fork(): start the program, wait for its end or for the runner's, and end. */
noreturn void keeper_main(const struct keeper *k);

#endif

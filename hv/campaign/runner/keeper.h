/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process between the runner and the program of a run: see child.h, which is its only caller. */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_KEEPER_H
#define OUTRIDER_CAMPAIGN_RUNNER_KEEPER_H

#include <stdnoreturn.h>

struct child_config;
struct cgroup;

struct keeper {
	const struct child_config *config;
	const struct cgroup *group;
	int out, log;	  /* what the program gets as standard output and standard error */
	int life, result; /* ends of pipes */
};

/* What the keeper does behind fork(): start the program, wait for its end or for the runner's, and end. */
noreturn void keeper_main(const struct keeper *k);

#endif

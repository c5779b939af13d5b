/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of one run: the program, and a keeper, which is a process of this program that stands between the runner and
 * the program. Both are in a process group of their own, and in a control group where there is one.
 *
 * The keeper ends the program and all that it has started when the runner dies, whatever kills it, and tells the runner how the
 * program has ended. When the keeper is killed, the kernel kills the program, and the runner what is left of the group. So no
 * run outlives its runner. What cannot be killed in this way, as a program that has made a group of its own, is found by the
 * lock on stderr.log: see child_end_others().
 *
 * One thread, and there is no other in this process.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_CHILD_H
#define OUTRIDER_CAMPAIGN_RUNNER_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "hv/base/err.h"
#include "hv/campaign/plan/plan.h"
#include "hv/campaign/runner/cgroup.h"
#include "hv/campaign/runner/keeper.h"

struct child {
	pid_t keeper; /* 0: there is none */
	int life;     /* The keeper ends all when this end of the pipe is closed. */
	int result;   /* The keeper writes the program's status here. */
	bool ended;   /* The program has ended, and `status` is set. */
	int status;   /* of the program, as from waitpid(2) */
	bool lost;    /* The keeper was killed before it could say how the program has ended. */
	uint64_t ended_ns;
	struct cgroup group;
};

/* Start the program. Returns 0, or -1 with err set. child_free() must follow when the child is over. */
int child_start(struct child *c, struct cgroup_base *base, const struct child_config *config, struct err *err);

/* Look what has become of it. Returns true when no process of it is left that could be waited for. */
bool child_is_over(struct child *c);

/* Ask the program to end properly: SIGTERM for its group. */
void child_ask(const struct child *c);

/* End all of its processes at once. */
void child_kill(const struct child *c);

/* CPU time and memory that its processes have used, and use. */
void child_usage(const struct child *c, uint64_t *cpu_ns, uint64_t *memory);

/* Whether a process of it was killed because the memory that it may use was used up. */
bool child_ran_out(const struct child *c);

void child_free(struct child *c);

/*
 * A run of this folder that a killed runner has left may still have processes: those that hold the lock on its stderr.log. Wait
 * for their end, for some seconds, and then kill them. Returns 0 when there are none any more, or -1 with EXIT_INPUT.
 */
int child_end_others(const char *folder, struct err *err);

#endif

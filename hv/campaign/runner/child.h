/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of one run: the program, and its supervisor, which is a process of Outrider between the runner and the program.
 * Both are in one process group, and in a control group if there is one.
 *
 * If the runner dies, the supervisor kills the program and all its children. The supervisor also tells the runner how the
 * program ended. If the supervisor is killed, the kernel kills the program (PR_SET_PDEATHSIG), and the runner kills the other
 * processes of the group. So no run outlives its runner. Without control groups, a program that made its own process group
 * escapes this; child_end_others() finds it by the lock on stderr.log.
 *
 * The calling process must be single-threaded, because child_start() forks.
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
#include "hv/campaign/runner/supervisor.h"

struct child {
	pid_t supervisor; /* pid of the supervisor; 0: none is running */
	int life;	  /* write end of a pipe; when it is closed, the supervisor kills the run */
	int result;	  /* read end of a pipe; the supervisor writes the program's status */
	bool ended;	  /* The program has ended, and `status` is valid. */
	int status;	  /* of the program, as from waitpid(2) */
	bool lost;	  /* The supervisor was killed before it reported how the program ended. */
	uint64_t ended_ns;
	struct cgroup group;
};

/* Start the program. Returns 0, or -1 with err set. After success, call child_free() once child_is_over() has returned true. */
int child_start(struct child *c, struct cgroup_base *base, const struct child_config *config, struct err *err);

/*
 * Check for the end of the program and of the supervisor. If the supervisor has ended, kill the other processes of the run, and
 * return true.
 */
bool child_is_over(struct child *c);

/* Send SIGTERM to the process group, so that the program can write its report. */
void child_terminate(const struct child *c);

/* Send SIGKILL to all processes of the run. */
void child_kill(const struct child *c);

/* Store the CPU time that the processes of the run have used, in ns, and the memory that they use now, in bytes. */
void child_usage(const struct child *c, uint64_t *cpu_ns, uint64_t *memory);

/* Returns whether the kernel killed a process of the run because the run's control group exceeded its memory limit. */
bool child_ran_out(const struct child *c);

void child_free(struct child *c);

/*
 * End the processes that are left of a killed runner's run: those that hold the lock on stderr.log in this folder. Waits 5 s
 * for their end. Then sends them SIGKILL until they have ended, for at most 25 s. Returns 0 if none is left, or -1 with
 * EXIT_INPUT.
 */
int child_end_others(const char *folder, struct err *err);

#endif

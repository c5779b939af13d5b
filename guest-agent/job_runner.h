/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that looks after the processes of one job.
 */
#ifndef OUTRIDER_JOB_RUNNER_H
#define OUTRIDER_JOB_RUNNER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "agent.h"
#include "named_commands.h"

struct job_work {
	const struct workload *workload; /* NULL: it is `command` */
	struct named_command command;
	const char *args; /* what follows "NAME:", or ""; it points into the word */
	atomic_ulong *rounds;
};

/* Find what `word` names: a workload of the agent, or else a command of the file `commands`. Returns false when it is neither.
 */
bool job_work_find(const char *word, const char *commands, struct job_work *work);

/*
 * The body of the runner, which is a new child of the agent: start the job's processes, and wait until they have ended, or
 * until SIGTERM comes, as it does when the agent dies. Then no process that came from them is left. Returns the exit status:
 * the first that is not 0 among the processes that it started, or 128 + SIGTERM.
 */
int job_runner(const struct job_work *work);

#endif

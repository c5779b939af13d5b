/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The runner: the process that starts the processes of one job, and at the end of the job kills those that still run (job.h).
 */
#ifndef OUTRIDER_JOB_RUNNER_H
#define OUTRIDER_JOB_RUNNER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "agent.h"
#include "named_commands.h"

struct job_work {
	const struct workload *workload; /* NULL: the job runs `command` */
	struct named_command command;
	const char *args; /* what follows "NAME:" in the argument `word` of job_work_find(), or ""; it points into `word` */
	atomic_ulong *rounds;
};

/*
 * Find what `word` names: a workload of the agent, or else a command of the file `commands`. Returns false if `word` names
 * neither.
 */
bool job_work_find(const char *word, const char *commands, struct job_work *work);

/*
 * Run a job, in a new child of the agent: start the job's processes, wait until they have ended or SIGTERM comes, and kill
 * every process that descends from the runner. job_stop() sends SIGTERM, and the kernel sends it when the agent dies. Returns
 * 128 + SIGTERM if SIGTERM came. Otherwise returns the first exit status other than 0 of a process that the runner started, or
 * 0 if all exited with 0.
 */
int job_runner(const struct job_work *work);

#endif

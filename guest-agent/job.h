/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job: a workload or a configured command that runs beside the agent. Each job has a runner: a process that starts the
 * processes of the job and waits for them. When the job ends or is stopped, or when the agent dies, the runner kills all
 * processes of the job that still run, with their descendants.
 */
#ifndef OUTRIDER_JOB_H
#define OUTRIDER_JOB_H

#include <stdatomic.h>
#include <stdbool.h>

#include "protocol.h"

enum job_state { JOB_NONE, JOB_RUNNING, JOB_STOPPING, JOB_ENDED };

struct job {
	enum job_state state;
	unsigned int number; /* counted from 1; no two jobs have the same number */
	char word[LINE_LENGTH + 1];
	int runner;	   /* process id */
	int input;	   /* descriptor of the pipe to the job's standard input; -1: closed */
	int output;	   /* pipe from the job's standard output and error; -1: all writers have closed it */
	double start, end; /* in seconds of now()'s clock */
	/* set in JOB_ENDED: the exit status, which is an enum agent_rc, 128 plus a signal, or a status of the workload's own */
	int rc;
	atomic_ulong *rounds; /* number of rounds of work done; in memory shared with the job's processes */
	unsigned long lines;  /* number of lines that the job has printed */
	struct line_reader reader;
};

/*
 * Start the job that `word`, "NAME" or "NAME:ARGS", names: a workload of the agent, or else a command of the file `commands`.
 * A command has ARGS in its environment as OUTRIDER_ARGS. A command that runs once on each CPU also has OUTRIDER_CPU, its CPU's
 * number. Returns 0, or -1 with one line in `why` of `size` bytes.
 */
int job_start(struct job *job, unsigned int number, const char *word, const char *commands, char *why, size_t size);

/* Make the runner kill the job's processes: by SIGTERM, and 2 s later by SIGKILL. Returns at once; the job ends later. */
void job_stop(struct job *job);

/* Write a line to the job's standard input. Drop the line when the job has ended or does not read. */
void job_tell(const struct job *job, const char *line);

/* Record that the job has ended. `status` is the runner's status from waitpid(). */
void job_ended(struct job *job, int status);

/* Print the state of the job as "KEY=VALUE ...", without a newline, into `text` of `size` bytes. */
void job_describe(const struct job *job, char *text, size_t size);

/* Free what a job that has ended still holds, and set its state to JOB_NONE, so that *job can be used for a new job. */
void job_forget(struct job *job);

#endif

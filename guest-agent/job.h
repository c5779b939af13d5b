/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job: a workload or a configured command that runs beside the agent. A process of its own, the runner, looks after all
 * processes of the job. When the job ends, is stopped, or the agent dies, the runner kills what is left of them, and no process
 * of a job can escape it.
 */
#ifndef OUTRIDER_JOB_H
#define OUTRIDER_JOB_H

#include <stdatomic.h>
#include <stdbool.h>

#include "protocol.h"

enum job_state { JOB_NONE, JOB_RUNNING, JOB_STOPPING, JOB_ENDED };

struct job {
	enum job_state state;
	unsigned int number; /* from 1, never used again */
	char word[LINE_LENGTH + 1];
	int runner;	      /* process id */
	int input;	      /* where lines for the job are written; -1: nowhere */
	int output;	      /* where what the job prints is read; -1: it has ended */
	double start, end;    /* of now()'s clock */
	int rc;		      /* of a job that has ended: an enum agent_rc, 128 plus a signal, or the workload's own */
	atomic_ulong *rounds; /* of work that the job has done; shared with its processes */
	unsigned long lines;  /* that the job has printed */
	struct line_reader reader;
};

/*
 * Start the job of `word`, which is "NAME" or "NAME:ARGS": a workload of the agent, or else a command of the file `commands`.
 * A command finds ARGS in its environment as OUTRIDER_ARGS, and its CPU as OUTRIDER_CPU when there is a copy on each. Returns
 * 0, or -1 with one line in `why` of `size` bytes.
 */
int job_start(struct job *job, unsigned int number, const char *word, const char *commands, char *why, size_t size);

/* Have the job's processes killed: SIGTERM first, and SIGKILL two seconds later. The job ends soon. */
void job_stop(struct job *job);

/* Write a line to the job's standard input. Drop the line when the job has ended or does not read. */
void job_tell(const struct job *job, const char *line);

/* The runner has ended with this status of waitpid(). */
void job_ended(struct job *job, int status);

/* Print how the job does, as "KEY=VALUE ..." without a newline, into `text` of `size` bytes. */
void job_describe(const struct job *job, char *text, size_t size);

/* Close what is open, and free the place of a job that has ended. */
void job_forget(struct job *job);

#endif

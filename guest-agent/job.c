// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Starts, stops and describes jobs. A job is a workload or a configured command that runs beside the agent, under a child
 * process of the agent, the runner (job_runner.h). Two pipes connect the agent with the job's standard input and output.
 */
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"
#include "job_runner.h"
#include "processes.h"

/* Make the job's pipes. [0] of each is for reading. */
static int make_pipes(int input[2], int output[2])
{
	if (pipe2(input, O_CLOEXEC))
		return -1;
	if (pipe2(output, O_CLOEXEC)) {
		close(input[0]);
		close(input[1]);
		return -1;
	}
	/* Only the job's ends of the pipes block: a job waits for the agent, but the agent never waits for a job. */
	fcntl(input[1], F_SETFL, O_NONBLOCK);
	fcntl(output[0], F_SETFL, O_NONBLOCK);
	return 0;
}

static int start_runner(struct job *job, const struct job_work *work)
{
	int input[2], output[2];

	if (make_pipes(input, output))
		return -1;
	fflush(NULL);
	job->runner = fork();
	if (!job->runner) {
		dup2(input[0], STDIN_FILENO);
		dup2(output[1], STDOUT_FILENO);
		dup2(output[1], STDERR_FILENO);
		_exit(job_runner(work));
	}
	close(input[0]);
	close(output[1]);
	job->input = input[1];
	job->output = output[0];
	if (job->runner > 0)
		return 0;
	close(job->input);
	close(job->output);
	return -1;
}

int job_start(struct job *job, unsigned int number, const char *word, const char *commands, char *why, size_t size)
{
	struct job_work work;

	if (!job_work_find(word, commands, &work)) {
		snprintf(why, size, "there is no workload or command of that name; see workloads");
		return -1;
	}
	*job = (struct job){.state = JOB_RUNNING, .number = number, .start = now()};
	snprintf(job->word, sizeof(job->word), "%s", word);
	job->rounds = mmap(NULL, sizeof(*job->rounds), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	work.rounds = job->rounds;
	if (job->rounds != MAP_FAILED && start_runner(job, &work) == 0)
		return 0;
	snprintf(why, size, "cannot start the job: %s", strerror(errno));
	if (job->rounds != MAP_FAILED)
		munmap(job->rounds, sizeof(*job->rounds));
	job->state = JOB_NONE;
	return -1;
}

void job_stop(struct job *job)
{
	if (job->state != JOB_RUNNING)
		return;
	job->state = JOB_STOPPING;
	kill(job->runner, SIGTERM);
}

void job_tell(const struct job *job, const char *line)
{
	ssize_t n;

	if (job->input < 0)
		return;
	/* Ignore the result. A full pipe drops the whole line: write() never takes only a part of PIPE_BUF bytes or less. */
	n = write(job->input, line, strlen(line));
	(void)n;
}

void job_ended(struct job *job, int status)
{
	job->state = JOB_ENDED;
	job->end = now();
	job->rc = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	close(job->input);
	job->input = -1;
}

void job_describe(const struct job *job, char *text, size_t size)
{
	static const char *const states[] = {"none", "running", "stopping", "ended"};
	bool ended = job->state == JOB_ENDED;
	struct process_sum sum = {0};
	int len;

	if (!ended)
		sum = processes_below(job->runner);
	len = snprintf(text, size, "job=%u state=%s seconds=%.2f rounds=%lu lines=%lu", job->number, states[job->state],
		       (ended ? job->end : now()) - job->start, atomic_load(job->rounds), job->lines);
	if (ended)
		snprintf(text + len, size - (size_t)len, " rc=%d word=%s", job->rc, job->word);
	else
		snprintf(text + len, size - (size_t)len, " processes=%u cpu=%.2f word=%s", sum.count, sum.cpu_seconds,
			 job->word);
}

void job_forget(struct job *job)
{
	if (job->state == JOB_NONE)
		return;
	if (job->output >= 0)
		close(job->output);
	munmap(job->rounds, sizeof(*job->rounds));
	*job = (struct job){.state = JOB_NONE};
}

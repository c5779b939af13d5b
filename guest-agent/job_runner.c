// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the runner of one job: a child process of the agent that starts the processes of the job, waits for them, and at the end
 * of the job kills every process that descends from them.
 */
#include "job_runner.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "processes.h"
#include "workloads.h"

#define GRACE 2.0 /* seconds from SIGTERM to SIGKILL */
#define MAX_CPUS 1024

struct runner {
	const struct job_work *work;
	sigset_t signals; /* SIGTERM and SIGCHLD, for which the runner waits; the runner blocks all signals */
	sigset_t before;  /* the signal mask of the job's processes */
	int left;	  /* number of processes that the runner started and that have not ended */
	int pid[MAX_CPUS];
	int started;
	int rc;
};

bool job_work_find(const char *word, const char *commands, struct job_work *work)
{
	size_t len = strcspn(word, ":");

	*work = (struct job_work){.workload = workload_find(word, &work->args)};
	work->args = word[len] ? word + len + 1 : "";
	return work->workload || named_command_find(commands, word, len, &work->command);
}

static void pin(int cpu)
{
	char number[16];
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	snprintf(number, sizeof(number), "%d", cpu);
	setenv("OUTRIDER_CPU", number, 1);
}

/* Do the work of one process of the job. The process is pinned to `cpu`, or to no CPU if `cpu` is negative. */
static int work_on(const struct job_work *work, int cpu)
{
	if (cpu >= 0)
		pin(cpu);
	count_rounds_in(work->rounds);
	if (work->workload)
		return work->workload->run(work->args);
	setenv("OUTRIDER_ARGS", work->args, 1);
	execl("/bin/sh", "sh", "-c", work->command.command, NULL);
	return say_failed("%s: /bin/sh", work->command.name);
}

static void start(struct runner *r, int cpu)
{
	int pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigprocmask(SIG_SETMASK, &r->before, NULL);
		exit(work_on(r->work, cpu));
	}
	if (pid < 0) {
		r->rc = say_failed("fork");
		return;
	}
	r->pid[r->started++] = pid;
	r->left++;
}

static void start_all(struct runner *r)
{
	cpu_set_t set;

	if (r->work->workload || !r->work->command.percpu || sched_getaffinity(0, sizeof(set), &set)) {
		start(r, -1);
		return;
	}
	for (int cpu = 0; cpu < CPU_SETSIZE && cpu < MAX_CPUS; cpu++)
		if (CPU_ISSET(cpu, &set))
			start(r, cpu);
}

/*
 * Collect the children that have ended. Returns whether the runner still has children. Processes of the job whose parent has
 * ended are also children of the runner, since it is a subreaper.
 */
static bool reap(struct runner *r)
{
	int status, pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (int i = 0; i < r->started; i++) {
			int rc = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);

			if (r->pid[i] != pid)
				continue;
			r->left--;
			r->rc = r->rc ? r->rc : rc;
		}
	return pid == 0 || errno != ECHILD;
}

/* Wait for SIGTERM or SIGCHLD for at most `seconds`. Returns the signal, or -1 at the end of that time. */
static int wait_signal(const struct runner *r, double seconds)
{
	struct timespec limit = {.tv_sec = (time_t)seconds};

	limit.tv_nsec = (long)((seconds - (double)limit.tv_sec) * 1e9);
	return sigtimedwait(&r->signals, NULL, &limit);
}

/* Kill every descendant of the runner: first by SIGTERM, and after GRACE seconds by SIGKILL. */
static void kill_rest(struct runner *r)
{
	double end = now() + GRACE;

	processes_signal(SIGTERM);
	while (reap(r) && now() < end)
		wait_signal(r, 0.1);
	while (reap(r)) {
		processes_signal(SIGKILL);
		wait_signal(r, 0.1);
	}
}

int job_runner(const struct job_work *work)
{
	struct runner r = {.work = work};
	int agent = getppid();
	bool stopped = false;
	sigset_t all;

	sigemptyset(&r.signals);
	sigaddset(&r.signals, SIGTERM);
	sigaddset(&r.signals, SIGCHLD);
	/*
	 * Give the job's processes the default signal state instead of the agent's, which blocks some signals and ignores
	 * SIGPIPE.
	 */
	sigemptyset(&r.before);
	signal(SIGPIPE, SIG_DFL);
	/* Block all signals: a process of the job can signal its parent, which is the runner if its first parent has ended. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != agent)
		return AGENT_FAIL;
	start_all(&r);
	while (reap(&r) && r.left && !stopped)
		stopped = wait_signal(&r, 3600) == SIGTERM;
	kill_rest(&r);
	return stopped ? 128 + SIGTERM : r.rc;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The supervisor (child.h): the process of Outrider between the campaign runner and a run's program. It starts the program, and
 * kills the program and its children if the runner dies.
 */
#include "hv/campaign/runner/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_MS 20
/* descriptors of the supervisor: LIFE is the pipe whose other end closes when the runner dies, RESULT takes the status */
#define LIFE 3
#define RESULT 4
/* Seconds by which the kernel's CPU limit is above the campaign's, so that the runner can send SIGTERM first. */
#define CPU_SPARE_S 30

static void limit(int resource, uint64_t value, uint64_t spare)
{
	struct rlimit was, now = {.rlim_cur = value, .rlim_max = value + spare};

	if (!value || getrlimit(resource, &was) < 0)
		return;
	if (now.rlim_max > was.rlim_max)
		now.rlim_max = was.rlim_max;
	if (now.rlim_cur > now.rlim_max)
		now.rlim_cur = now.rlim_max;
	setrlimit(resource, &now);
}

static void reset_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static noreturn void program(const struct child_config *config, pid_t supervisor)
{
	const struct plan_limits *l = config->limits;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != supervisor)
		_exit(EXIT_INTERNAL);
	close(LIFE);
	close(RESULT);
	if (l->cpu_ns)
		limit(RLIMIT_CPU, l->cpu_ns / 1000000000 + CPU_SPARE_S, CPU_SPARE_S);
	if (config->limit_files)
		limit(RLIMIT_FSIZE, l->output, 0);
	limit(RLIMIT_CORE, 1, 0);
	reset_signals();
	execv(config->argv[0], config->argv);
	dprintf(STDERR_FILENO, "outrider: cannot run %s: %s\n", config->argv[0], strerror(errno));
	_exit(127);
}

/*
 * Close the runner's other descriptors: an inherited write end of another run's life pipe would keep that run alive when the
 * runner dies.
 */
static void close_other_files(const struct supervisor *k)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	/*
	 * Duplicate the descriptors to numbers from 16 on, above all targets of dup2() below, so that no dup2() closes one of
	 * them.
	 */
	int out = fcntl(k->out, F_DUPFD, 16), log = fcntl(k->log, F_DUPFD, 16);
	int life = fcntl(k->life, F_DUPFD, 16), result = fcntl(k->result, F_DUPFD, 16), in = fcntl(nothing, F_DUPFD, 16);

	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	dup2(life, LIFE);
	dup2(result, RESULT);
	close_range(RESULT + 1, ~0u, 0);
}

/* Wait up to wait_ms milliseconds for the end of the runner. The runner's end of the life pipe closes when the runner dies. */
static bool runner_is_gone(int wait_ms)
{
	struct pollfd fds = {.fd = LIFE, .events = POLLIN};

	return poll(&fds, 1, wait_ms) > 0;
}

static void finish(const struct child_config *config)
{
	if (config->finish)
		config->finish(config->ctx);
}

/*
 * Reap the program and its orphaned children. The supervisor is the new parent of these orphans (PR_SET_CHILD_SUBREAPER). When
 * the program ends, first call finish() to clean up, and then report the program's end, because the runner takes this report as
 * the end of the run. Returns when no child is left, or when the runner has died.
 */
static void wait_for_all(const struct child_config *config, pid_t pid)
{
	int status;
	pid_t ended;

	while ((ended = waitpid(-1, &status, WNOHANG)) >= 0 || errno == EINTR) {
		if (ended == pid) {
			finish(config);
			if (write(RESULT, &status, sizeof(status)) < 0)
				return;
		}
		if (ended <= 0 && runner_is_gone(POLL_MS))
			return;
	}
}

/* Returns whether SIGTERM arrived before the program was started. */
static bool sigterm_is_pending(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1;
}

/* End the supervisor without running the program: call finish(), and report `status` as if it were the program's. */
static noreturn void end_without(const struct child_config *config, int status)
{
	finish(config);
	_exit(write(RESULT, &status, sizeof(status)) < 0);
}

noreturn void supervisor_main(const struct supervisor *k)
{
	const struct child_config *config = k->config;
	const struct cgroup *group = k->group;
	pid_t self = getpid(), pid;
	struct err err = {0};
	sigset_t all;

	setpgid(0, 0);
	/* Block all signals in the supervisor: SIGTERM is meant for the program. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	close_other_files(k);
	cgroup_enter(group);
	if (config->prepare && config->prepare(config->ctx, &err) < 0) {
		dprintf(STDERR_FILENO, "outrider: %s\n", err.text);
		end_without(config, W_EXITCODE(EXIT_INPUT, 0));
	}
	if (sigterm_is_pending())
		end_without(config, W_EXITCODE(0, SIGTERM));
	pid = fork();
	if (pid == 0)
		program(config, self);
	if (pid > 0)
		wait_for_all(config, pid);
	finish(config);
	if (runner_is_gone(0)) {
		cgroup_kill(group);
		kill(0, SIGKILL);
	}
	_exit(0);
}

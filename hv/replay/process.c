// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/replay/process.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void process_die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	/* The parent may have died before that. */
	if (getppid() != parent)
		_exit(1);
}

/* The sandbox lets no process of ours send a signal to another one, so each has a timer of its own. */
void process_end_after(time_t seconds)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	const struct itimerspec when = {.it_value = {.tv_sec = seconds}};
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0 || timer_settime(timer, 0, &when, NULL) < 0)
		_exit(1);
}

int process_run(void (*act)(void *ctx), void *ctx, time_t seconds, struct err *err)
{
	pid_t self = getpid(), pid = fork(), ended;
	int status = 0;

	if (pid == 0) {
		process_die_with(self);
		if (seconds)
			process_end_after(seconds);
		act(ctx);
		_exit(0);
	}
	if (pid < 0)
		return err_set(err, EXIT_INTERNAL, "fork: %s", strerror(errno));
	do
		ended = waitpid(pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return err_set(err, EXIT_INTERNAL, "the process of a copy died or took too long");
}

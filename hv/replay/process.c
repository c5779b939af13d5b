// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/replay/process.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hv/base/clean.h"

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

static int wait_for(pid_t pid, struct err *err)
{
	int status = 0;
	pid_t ended;

	do
		ended = waitpid(pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return err_set(err, EXIT_INTERNAL, "the process of a copy died or took too long");
}

/* The error that a process has left is not trusted. */
static int take_error(const struct err *left, struct err *err)
{
	enum exit_code code = left->code;
	char text[sizeof(left->text)];

	if (code == EXIT_OK)
		return 0;
	if (code != EXIT_USAGE && code != EXIT_INPUT && code != EXIT_GUEST)
		code = EXIT_INTERNAL;
	memcpy(text, left->text, sizeof(text));
	text[sizeof(text) - 1] = '\0';
	clean_line(text, sizeof(text));
	return err_set(err, code, "%s", text);
}

int process_run(int (*act)(void *ctx, struct err *err), void *ctx, time_t seconds, struct err *err)
{
	struct err *left = mmap(NULL, sizeof(*left), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t self = getpid(), pid;
	int rc;

	if (left == MAP_FAILED)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	pid = fork();
	if (pid == 0) {
		process_die_with(self);
		if (seconds)
			process_end_after(seconds);
		act(ctx, left);
		_exit(0);
	}
	rc = pid < 0 ? err_set(err, EXIT_INTERNAL, "fork: %s", strerror(errno)) : wait_for(pid, err);
	if (rc == 0)
		rc = take_error(left, err);
	munmap(left, sizeof(*left));
	return rc;
}

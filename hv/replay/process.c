// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts and ends processes that run copies of the machine. */
#include "hv/replay/process.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hv/base/clean.h"
#include "hv/base/die_with.h"

/* Each process kills itself by a timer, because the sandbox lets no process send a signal to another process. */
void process_end_after(time_t seconds)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	const struct itimerspec when = {.it_value = {.tv_sec = seconds}};
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0 || timer_settime(timer, 0, &when, NULL) < 0)
		_exit(1);
}

bool process_ended_within(pid_t pid, unsigned milliseconds)
{
	const struct timespec nap = {.tv_nsec = 1000000};

	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (milliseconds-- == 0)
			return false;
		nanosleep(&nap, NULL);
	}
	return true;
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

/* Copy the error of act() to `err`. The error comes from a process that ran a guest, so make it valid and printable. */
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

int process_start(struct process *p, int (*act)(void *ctx, struct err *err), void *ctx, time_t seconds, struct err *err)
{
	pid_t self = getpid();

	p->left = mmap(NULL, sizeof(*p->left), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->left == MAP_FAILED)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	p->pid = fork();
	if (p->pid == 0) {
		die_with(self);
		if (seconds)
			process_end_after(seconds);
		act(ctx, p->left);
		_exit(0);
	}
	if (p->pid > 0)
		return 0;
	munmap(p->left, sizeof(*p->left));
	return err_set(err, EXIT_INTERNAL, "fork: %s", strerror(errno));
}

int process_wait(struct process *p, struct err *err)
{
	int rc = wait_for(p->pid, err);

	if (rc == 0)
		rc = take_error(p->left, err);
	munmap(p->left, sizeof(*p->left));
	return rc;
}

int process_run(int (*act)(void *ctx, struct err *err), void *ctx, time_t seconds, struct err *err)
{
	struct process p;

	return process_start(&p, act, ctx, seconds, err) < 0 ? -1 : process_wait(&p, err);
}

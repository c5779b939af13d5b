// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/cli/replay_gdb.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hv/replay/gdb/machine.h"
#include "hv/replay/process.h"

#define UNIX "unix:"

static void end_signals(sigset_t *signals)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

	sigemptyset(signals);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(signals, numbers[i]);
}

int replay_gdb_open(struct replay_gdb *g, const char *address, struct err *err)
{
	sigset_t signals;

	g->address = address;
	g->listener = gdb_listen(address, err);
	if (g->listener < 0)
		return -1;
	/* A process that a signal ended would leave the socket behind. */
	end_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	g->socket = strncmp(address, UNIX, strlen(UNIX)) == 0 ? address + strlen(UNIX) : NULL;
	return 0;
}

void replay_gdb_close(struct replay_gdb *g)
{
	if (g->listener < 0)
		return;
	close(g->listener);
	if (g->socket)
		unlink(g->socket);
	g->listener = -1;
}

struct task {
	const struct run_plan *plan;
	unsigned first;
	const char *intro;
	struct gdb_config config;
};

static int serve(void *ctx, struct err *err)
{
	const struct task *t = ctx;

	return gdb_replay(t->plan, t->first, t->intro, &t->config, err);
}

/* The server's process has the signals blocked, as this one has, so that it ends when it is told to. */
static void wait_for_end(const sigset_t *signals, int tell)
{
	siginfo_t info;
	int signal;

	do
		signal = sigwaitinfo(signals, &info);
	while (signal < 0 && errno == EINTR);
	if (signal != SIGCHLD)
		(void)!write(tell, "", 1);
}

int replay_gdb_serve(const struct replay_gdb *g, const struct run_plan *plan, unsigned first, const char *intro,
		     struct err *err)
{
	struct task task = {.plan = plan, .first = first, .intro = intro, .config = {.listener = g->listener}};
	struct process process;
	sigset_t signals;
	int ends[2], rc;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(err, EXIT_INTERNAL, "pipe: %s", strerror(errno));
	task.config.stop_fd = ends[0];
	end_signals(&signals);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	rc = process_start(&process, serve, &task, 0, err);
	if (rc == 0) {
		fprintf(stderr, "outrider: waiting for gdb: (gdb) target remote %s\n", g->socket ? g->socket : g->address);
		wait_for_end(&signals, ends[1]);
		rc = process_wait(&process, err);
	}
	close(ends[0]);
	close(ends[1]);
	return rc;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/sandbox/helper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hv/base/die_with.h"

/* 30 s: longer than a disk takes to wake from standby, which is some seconds. A helper that waits for a dead file server is
 * then left running. */
#define END_MS 30000

/* Ignore Ctrl-C: it is for the run, which ends this process. */
static void leave_signals(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

int helper_start(struct helper *h, void (*serve)(void *ctx, pid_t parent, int socket), void *ctx, struct err *err)
{
	pid_t parent = getpid(), pid;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_set(err, EXIT_INTERNAL, "socketpair: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		leave_signals();
		die_with(parent);
		if (dup2(ends[1], STDIN_FILENO) < 0 || close_range(STDIN_FILENO + 1, ~0u, 0) < 0)
			_exit(1);
		serve(ctx, parent, STDIN_FILENO);
		_exit(0);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return err_set(err, EXIT_INTERNAL, "fork: %s", strerror(errno));
	}
	*h = (struct helper){.pid = pid, .socket = ends[0]};
	return 0;
}

/* Wait until the process has closed its side. Returns false after END_MS. Drops replies that were not read. */
static bool has_ended(const struct helper *h)
{
	struct pollfd ready = {.fd = h->socket, .events = POLLIN};
	char rest[64];
	ssize_t n = 1;

	while (n > 0 || (n < 0 && errno == EINTR)) {
		int rc = poll(&ready, 1, END_MS);

		if (rc == 0)
			return false;
		n = rc < 0 ? -1 : read(h->socket, rest, sizeof(rest));
	}
	return true;
}

void helper_stop(struct helper *h)
{
	if (!h->pid)
		return;
	/*
	 * Tell it by a message, because closing the socket may go unnoticed: a copy of the machine may have this side open too.
	 */
	if (write(h->socket, "", 1) < 0 || has_ended(h))
		while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
			;
	close(h->socket);
	*h = (struct helper){.socket = -1};
}

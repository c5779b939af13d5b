// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider replay --gdb`: opens a socket for gdb, and starts a process that serves gdb until the session ends. */
#include "hv/cli/replay_gdb.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hv/replay/gdb/machine.h"
#include "hv/replay/process.h"

#define UNIX "unix:"
#define ADVICE "name a socket: --gdb unix:PATH"

static void end_signals(sigset_t *signals)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

	sigemptyset(signals);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(signals, numbers[i]);
}

bool replay_gdb_is_unix(const char *address)
{
	return strncmp(address, UNIX, strlen(UNIX)) == 0;
}

/* Choose a path for a socket, with this process's id in its name. Returns 0, or -1 with `err` set. */
static int own_path(struct replay_gdb *g, struct err *err)
{
	char folder[OWN_SOCKET_PATH_MAX];

	if (own_socket_folder(folder, sizeof(folder), ADVICE, err) < 0)
		return -1;
	if (snprintf(g->own, sizeof(g->own), "%s/gdb-%d", folder, (int)getpid()) >= (int)sizeof(g->own))
		return err_set(err, EXIT_INPUT, "the path of the folder %s is too long for a socket; " ADVICE, folder);
	return 0;
}

static int open_unix(struct replay_gdb *g, const char *path, struct err *err)
{
	if (!path[0] && own_path(g, err) < 0)
		return -1;
	g->address = path[0] ? path : g->own;
	g->listener = gdb_listen_unix(g->address, err);
	g->socket = g->listener < 0 ? NULL : g->address;
	return g->listener < 0 ? -1 : 0;
}

static bool is_loopback(int listener)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} a;
	socklen_t len = sizeof(a);

	if (getsockname(listener, &a.any, &len) < 0)
		return false;
	if (a.any.sa_family == AF_INET)
		return ntohl(a.v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return a.any.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&a.v6.sin6_addr);
}

static int open_tcp(struct replay_gdb *g, const char *address, struct err *err)
{
	g->address = address;
	g->listener = gdb_listen_tcp(address, err);
	if (g->listener < 0)
		return -1;
	fprintf(stderr,
		"outrider: warning: %s can connect to port %s, and then read and change the machine; --gdb unix: lets in only "
		"you\n",
		is_loopback(g->listener) ? "any user of this host" : "anybody who reaches this host", address);
	return 0;
}

int replay_gdb_open(struct replay_gdb *g, const char *address, struct err *err)
{
	sigset_t signals;

	if ((replay_gdb_is_unix(address) ? open_unix(g, address + strlen(UNIX), err) : open_tcp(g, address, err)) < 0)
		return -1;
	/* Block the signals that end a process: a process that ends by a signal would not remove the file of the socket. */
	end_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, NULL);
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

/*
 * Wait for a signal, or for the end of the process that serves gdb. That process has blocked the signals, too. So after a
 * signal, write to the pipe `tell`, which makes that process end.
 */
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
		fprintf(stderr, "outrider: waiting for gdb: (gdb) target remote %s%s\n",
			g->socket || strchr(g->address, ':') ? "" : ":", g->address);
		wait_for_end(&signals, ends[1]);
		rc = process_wait(&process, err);
	}
	close(ends[0]);
	close(ends[1]);
	return rc;
}

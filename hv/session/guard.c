// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The guard (guard.h): a process that removes outrider's points from an attached machine if outrider dies. A file, the journal
 * (hv/target/gdb/journal.h), tells the next outrider what to remove if the guard fails, too.
 */
#include "hv/session/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hv/base/clock.h"
#include "hv/libvirt/domain.h"
#include "hv/rsp/rsp.h"
#include "hv/target/gdb/journal.h"

/* Milliseconds of silence after which a gdbstub has sent all its replies. */
#define QUIET_MS 300
/* Limit of the time for which settle() discards replies, in ns: 3 s. A peer that still sends then is no gdbstub. */
#define SETTLE_NS 3000000000u
/* Seconds after outrider's end at which the guard exits, even if it is waiting. */
#define LAST_S 30

struct guard {
	/* The session's end of the socket to the guard's process. */
	int fd;
	pid_t pid;
	bool takes_over; /* guard_take_over() was called. */
};

/*
 * The message to the guard's process: all that the guard needs, with the gdbstub's descriptor attached. A message without a
 * descriptor says that nothing is left to remove.
 */
struct charge {
	bool has_uri, has_domain;
	char journal[512], uri[512], domain[256];
};

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* ---- the process ---- */

/*
 * Bring the gdbstub into a known state. The gdbstub may be reading a packet, sending a reply, or running the machine. End the
 * packet, which then has a wrong checksum; stop the machine; and discard the replies to outrider's requests.
 */
static void settle(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	uint64_t until = monotonic_ns() + SETTLE_NS;
	char scrap[4096];

	if (send(fd, "+#00\x03", 5, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
	while (poll(&poll_fd, 1, QUIET_MS) > 0 && monotonic_ns() < until) {
		if (recv(fd, scrap, sizeof(scrap), MSG_DONTWAIT) <= 0)
			return;
	}
}

static void take_over(int fd, const struct charge *charge)
{
	/*
	 * Keep a descriptor of the connection open until the end of this function. While the connection is open, the next
	 * outrider waits (libvirt_look_for_stub()). Without this, it could open a new gdbstub, and domain_drop_stub() below
	 * would close that new gdbstub.
	 */
	int hold = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct rsp *rsp;

	settle(fd);
	/*
	 * Open the connection anew, which makes QEMU remove all breakpoints and watchpoints. Then detach, which resumes the
	 * machine.
	 */
	rsp = rsp_open(fd, true, NULL, NULL, NULL);
	if (rsp)
		rsp_detach(rsp);
	if (charge->has_domain)
		domain_drop_stub(charge->has_uri ? charge->uri : NULL, charge->domain);
	rsp_close(rsp);
	if (hold >= 0)
		close(hold);
	gdb_journal_remove(charge->journal);
}

/* Receive one message. Returns false if the connection is closed. */
static bool listen_once(int from, struct charge *charge, int *fd)
{
	union control control;
	struct iovec iov = {charge, sizeof(*charge)};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	struct cmsghdr *header;
	ssize_t n = recvmsg(from, &message, MSG_CMSG_CLOEXEC);

	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0)
		return false;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS && n == sizeof(*charge))
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return true;
}

/*
 * Close every inherited descriptor except `from`. Otherwise a process that reads outrider's output would see no end of file
 * before the guard ends.
 */
static void close_inherited(int from)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (null < 0 || dup2(null, fd) < 0)
			close(fd);
	}
	if (from > STDERR_FILENO + 1)
		close_range(STDERR_FILENO + 1, (unsigned)from - 1, 0);
	close_range((unsigned)from + 1, ~0u, 0);
}

/*
 * Run the guard's process. The process leaves outrider's process group and session, since Ctrl-C and the end of a terminal kill
 * the whole group.
 */
static void be_guard(int from)
{
	struct charge charge = {0};
	int fd = -1;

	close_inherited(from);
	setsid();
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	while (listen_once(from, &charge, &fd))
		;
	/*
	 * Let SIGALRM end the process: libvirt may hang, and the gdbstub is not trusted. The journal then tells the next
	 * outrider what to remove.
	 */
	alarm(LAST_S);
	if (fd >= 0)
		take_over(fd, &charge);
	_exit(0);
}

/* ---- the session's side ---- */

struct guard *guard_start(struct err *err)
{
	struct guard *g = calloc(1, sizeof(*g));
	int fds[2];

	if (!g || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds)) {
		free(g);
		err_set(err, EXIT_INTERNAL, "cannot start the guard: %s", strerror(errno));
		return NULL;
	}
	g->pid = fork();
	if (g->pid == 0) {
		close(fds[1]);
		be_guard(fds[0]);
	}
	close(fds[0]);
	g->fd = fds[1];
	if (g->pid > 0)
		return g;
	err_set(err, EXIT_INTERNAL, "cannot start the guard: %s", strerror(errno));
	close(g->fd);
	free(g);
	return NULL;
}

void guard_watch(struct guard *g, int fd, const char *journal, const char *uri, const char *domain)
{
	struct charge charge = {.has_uri = uri, .has_domain = domain};
	union control control = {0};
	struct iovec iov = {&charge, sizeof(charge)};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	snprintf(charge.journal, sizeof(charge.journal), "%s", journal);
	snprintf(charge.uri, sizeof(charge.uri), "%s", uri ? uri : "");
	snprintf(charge.domain, sizeof(charge.domain), "%s", domain ? domain : "");
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	/* Ignore a failure: if the guard is gone, the journal still informs the next outrider of what to remove. */
	(void)!sendmsg(g->fd, &message, MSG_NOSIGNAL);
}

void guard_take_over(struct guard *g)
{
	g->takes_over = true;
}

void guard_end(struct guard *g)
{
	if (!g)
		return;
	if (!g->takes_over)
		(void)!send(g->fd, "", 1, MSG_NOSIGNAL);
	close(g->fd);
	if (!g->takes_over)
		waitpid(g->pid, NULL, 0);
	free(g);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connects to the Unix socket or the TCP port of a gdbstub, within a time limit. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "hv/base/limit.h"
#include "hv/rsp/address.h"
#include "hv/rsp/rsp.h"

/* The limits of one attempt to connect. */
struct attempt {
	uint64_t deadline_ns;
	const struct limit *limit;
};

/* Returns true if time is left. If not, sets errno to EINTR (the caller's limit was reached) or ETIMEDOUT. */
static bool time_left(const struct attempt *t)
{
	uint64_t now = monotonic_ns();

	if (now >= limit_end(t->limit))
		errno = EINTR;
	else if (now >= t->deadline_ns)
		errno = ETIMEDOUT;
	else
		return true;
	return false;
}

/* Wait until a connection in progress is established. Returns 0, or -1 with errno set. */
static int finish_connect(int fd, const struct attempt *t)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
	socklen_t len = sizeof(int);
	int failure;

	while (poll(&poll_fd, 1, LIMIT_LOOK_NS / 1000000) <= 0) {
		if (!time_left(t))
			return -1;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &len))
		return -1;
	errno = failure;
	return failure ? -1 : 0;
}

/*
 * Connect within the time of `t`. If the backlog of a Unix socket is full, connect(2) fails with EAGAIN, and poll() cannot wait
 * for room, so try again every LIMIT_LOOK_NS. Returns 0, or -1 with errno set.
 */
static int connect_within(int fd, const struct sockaddr *addr, socklen_t len, const struct attempt *t)
{
	const struct timespec nap = {.tv_nsec = LIMIT_LOOK_NS};

	if (fcntl(fd, F_SETFL, O_NONBLOCK))
		return -1;
	while (connect(fd, addr, len)) {
		if (errno == EINPROGRESS && finish_connect(fd, t) == 0)
			break;
		if (errno != EAGAIN && errno != EINTR)
			return -1;
		if (!time_left(t))
			return -1;
		nanosleep(&nap, NULL);
	}
	return fcntl(fd, F_SETFL, 0);
}

static int connect_unix(const char *path, const struct attempt *t, struct err *err)
{
	struct sockaddr_un addr;
	int fd;

	if (rsp_unix_address(path, &addr, err) < 0)
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect_within(fd, (struct sockaddr *)&addr, sizeof(addr), t) == 0)
		return fd;
	err_set(err, EXIT_INPUT, "cannot connect to the gdbstub at unix:%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static int try_one(const struct addrinfo *a, const struct attempt *t)
{
	int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol), saved;

	if (fd < 0 || connect_within(fd, a->ai_addr, a->ai_addrlen, t) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

static int connect_tcp(const char *address, const struct attempt *t, struct err *err)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *list;
	const char *port;
	char host[256];
	int rc, fd = -1, on = 1;

	if (rsp_split_address(address, host, sizeof(host), &port, err) < 0)
		return -1;
	rc = getaddrinfo(host[0] ? host : "localhost", port, &hints, &list);
	if (rc)
		return err_set(err, EXIT_INPUT, "cannot find %s: %s", address, gai_strerror(rc));
	for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next)
		fd = try_one(a, t);
	freeaddrinfo(list);
	if (fd < 0)
		return err_set(err, EXIT_INPUT, "cannot connect to the gdbstub at %s: %s", address, strerror(errno));
	/* Requests are small, and the client waits for each reply, so Nagle's algorithm would only delay them. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

int rsp_connect(const char *address, const struct limit *limit, struct err *err)
{
	const struct attempt t = {monotonic_ns() + RSP_CONNECT_NS, limit};
	const char *path = rsp_unix_path(address);

	return path ? connect_unix(path, &t, err) : connect_tcp(address, &t, err);
}

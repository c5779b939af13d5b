// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hv/replay/gdb/gdb.h"
#include "hv/rsp/address.h"

/* One client is served, so nobody else has to wait for his turn. */
#define BACKLOG 1

/* Returns the descriptor, or -1 with errno set. */
static int listen_at(int family, const struct sockaddr *addr, socklen_t len)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, saved;

	if (fd < 0)
		return -1;
	if (family != AF_UNIX)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, addr, len) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

static int listen_unix(const char *path, struct err *err)
{
	struct sockaddr_un addr;
	int fd;

	if (rsp_unix_address(path, &addr, err) < 0)
		return -1;
	fd = listen_at(AF_UNIX, (const struct sockaddr *)&addr, sizeof(addr));
	if (fd < 0 && errno == EADDRINUSE)
		return err_set(err, EXIT_INPUT, "unix:%s: there is a file already: remove it, or give another path", path);
	return fd < 0 ? err_set(err, EXIT_INPUT, "cannot listen at unix:%s: %s", path, strerror(errno)) : fd;
}

static int listen_tcp(const char *address, struct err *err)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *list;
	const char *port;
	char host[256];
	int rc, fd = -1;

	if (rsp_split_address(address, host, sizeof(host), &port, err) < 0)
		return -1;
	/* Whoever reaches the port owns the machine, so a port without a host is this host's own. */
	rc = getaddrinfo(host[0] ? host : "localhost", port, &hints, &list);
	if (rc)
		return err_set(err, EXIT_INPUT, "cannot find %s: %s", address, gai_strerror(rc));
	for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next)
		fd = listen_at(a->ai_family, a->ai_addr, a->ai_addrlen);
	freeaddrinfo(list);
	return fd < 0 ? err_set(err, EXIT_INPUT, "cannot listen at %s: %s", address, strerror(errno)) : fd;
}

int gdb_listen(const char *address, struct err *err)
{
	const char *path = rsp_unix_path(address);

	return path ? listen_unix(path, err) : listen_tcp(address, err);
}

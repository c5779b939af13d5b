// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens the socket at which gdb connects to `outrider replay`. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hv/base/own_socket.h"
#include "hv/replay/gdb/gdb.h"
#include "hv/rsp/address.h"

/* The server accepts only one client. */
#define BACKLOG 1
/* The longest HOST:PORT. RFC 1035 allows a host's name 253 characters. */
#define ADDRESS_MAX 264

int gdb_listen_unix(const char *path, struct err *err)
{
	int fd = own_socket_listen(path, 0, BACKLOG);

	if (fd >= 0)
		return fd;
	if (errno == EADDRINUSE)
		return err_set(err, EXIT_INPUT, "unix:%s: there is a file already: remove it, or give another path", path);
	return err_set(err, errno == ENAMETOOLONG ? EXIT_USAGE : EXIT_INPUT, "cannot listen at unix:%s: %s", path,
		       strerror(errno));
}

/* Listen at this address. Returns the file descriptor, or -1 with errno set. */
static int listen_at(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, saved;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

int gdb_listen_tcp(const char *address, struct err *err)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	char whole[ADDRESS_MAX], host[ADDRESS_MAX];
	struct addrinfo *list;
	const char *port;
	int rc, fd = -1;

	rc = snprintf(whole, sizeof(whole), "%s%s", strchr(address, ':') ? "" : ":", address);
	if (rc >= (int)sizeof(whole) || rsp_split_address(whole, host, sizeof(host), &port, NULL) < 0)
		return err_set(err, EXIT_USAGE, "%s is no port: give PORT, from 1 to 65535, or HOST:PORT", address);
	/*
	 * Any process that can connect to the port controls the machine, so a port without a host is on the loopback interface.
	 */
	rc = getaddrinfo(host[0] ? host : "localhost", port, &hints, &list);
	if (rc)
		return err_set(err, EXIT_INPUT, "cannot find %s: %s", address, gai_strerror(rc));
	for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next)
		fd = listen_at(a);
	freeaddrinfo(list);
	return fd < 0 ? err_set(err, EXIT_INPUT, "cannot listen at %s: %s", address, strerror(errno)) : fd;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "hv/rsp/rsp.h"

static int connect_unix(const char *path, struct err *err)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd;

	if (!path[0] || strlen(path) >= sizeof(addr.sun_path))
		return err_set(err, EXIT_USAGE, "unix:%s: give the path of a socket, at most %zu characters", path,
			       sizeof(addr.sun_path) - 1);
	memcpy(addr.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0)
		return fd;
	err_set(err, EXIT_INPUT, "cannot connect to the gdbstub at unix:%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool is_port(const char *text)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && port > 0 && port <= UINT16_MAX;
}

/* Cut "HOST:PORT" in two. The host may be in brackets, or empty. Returns 0, or -1 when it is not of this form. */
static int split_address(const char *address, char *host, size_t size, const char **port)
{
	const char *colon = strrchr(address, ':'), *end = colon;

	if (!colon || !is_port(colon + 1))
		return -1;
	if (address[0] == '[' && colon > address && colon[-1] == ']') {
		address++;
		end--;
	}
	if (end < address || (size_t)(end - address) >= size)
		return -1;
	memcpy(host, address, (size_t)(end - address));
	host[end - address] = 0;
	*port = colon + 1;
	return 0;
}

static int try_one(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol), saved;

	if (fd < 0 || connect(fd, a->ai_addr, a->ai_addrlen) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

static int connect_tcp(const char *address, struct err *err)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *list;
	const char *port;
	char host[256];
	int rc, fd = -1, on = 1;

	if (split_address(address, host, sizeof(host), &port))
		return err_set(err, EXIT_USAGE, "%s is not a gdbstub's address: give unix:PATH or HOST:PORT", address);
	rc = getaddrinfo(host[0] ? host : "localhost", port, &hints, &list);
	if (rc)
		return err_set(err, EXIT_INPUT, "cannot find %s: %s", address, gai_strerror(rc));
	for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next)
		fd = try_one(a);
	freeaddrinfo(list);
	if (fd < 0)
		return err_set(err, EXIT_INPUT, "cannot connect to the gdbstub at %s: %s", address, strerror(errno));
	/* Requests are small, and each is waited for, so collecting them would gain nothing. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

int rsp_connect(const char *address, struct err *err)
{
	return strncmp(address, "unix:", 5) == 0 ? connect_unix(address + 5, err) : connect_tcp(address, err);
}

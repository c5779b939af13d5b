// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/vmm/dev/vsock_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 16
#define CALL "CONNECT "

static int new_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* Whether nobody listens on the socket at `address`, as after a machine that was killed. */
static bool is_stale(const struct sockaddr_un *address)
{
	struct stat st;
	bool stale;
	int fd;

	if (lstat(address->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return false;
	fd = new_socket();
	stale = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 && errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return stale;
}

static int bind_anew(int fd, const struct sockaddr_un *address)
{
	if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
		return 0;
	if (errno != EADDRINUSE)
		return -1;
	if (!is_stale(address)) {
		errno = EADDRINUSE;
		return -1;
	}
	return unlink(address->sun_path) < 0 ? -1 : bind(fd, (const struct sockaddr *)address, sizeof(*address));
}

int vsock_socket_listen(const char *path, struct err *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) + sizeof(VSOCK_PORT_SUFFIX) > sizeof(address.sun_path))
		return err_set(err, EXIT_INPUT, "--vsock: the path of the socket %s is too long: give one of at most %zu bytes",
			       path, sizeof(address.sun_path) - sizeof(VSOCK_PORT_SUFFIX));
	strcpy(address.sun_path, path);
	fd = new_socket();
	if (fd < 0)
		return err_set(err, EXIT_INTERNAL, "cannot make a socket: %s", strerror(errno));
	/* The mode of a socket's file is that of the socket at the time of bind(2), so nobody can be faster than a chmod(2). */
	if (fchmod(fd, 0600) == 0 && bind_anew(fd, &address) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	if (errno == EADDRINUSE)
		err_set(err, EXIT_INPUT, "--vsock: %s is in use: end the machine that has it, or name another socket=PATH",
			path);
	else
		err_set(err, EXIT_INPUT, "--vsock: cannot listen on the socket %s: %s; name another socket=PATH", path,
			strerror(errno));
	close(fd);
	return -1;
}

int vsock_socket_call(const char *path, uint32_t port)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = new_socket();

	if (fd < 0)
		return -1;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s_%u", path, port);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

bool vsock_socket_read_call(const char *line, uint32_t *port)
{
	const char *digits = line + strlen(CALL);
	unsigned long long value;

	if (strncmp(line, CALL, strlen(CALL)) != 0 || strlen(digits) > 10)
		return false;
	if (!digits[0] || digits[strspn(digits, "0123456789")])
		return false;
	value = strtoull(digits, NULL, 10);
	*port = (uint32_t)value;
	return value <= UINT32_MAX;
}

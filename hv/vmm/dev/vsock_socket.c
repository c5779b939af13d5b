// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/vmm/dev/vsock_socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CALL "CONNECT "

int vsock_socket_call(const char *path, uint32_t port)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

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

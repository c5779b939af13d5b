// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/vmm/vsock/socket.h"

#include <stdlib.h>
#include <string.h>

#include "hv/sandbox/sandbox.h"

#define CALL "CONNECT "

int vsock_socket_call(const char *path, uint32_t port)
{
	return sandbox_call(path, port);
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

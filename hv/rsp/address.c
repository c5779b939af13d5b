// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/rsp/address.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

const char *rsp_unix_path(const char *address)
{
	return strncmp(address, "unix:", 5) == 0 ? address + 5 : NULL;
}

int rsp_unix_address(const char *path, struct sockaddr_un *out, struct err *err)
{
	*out = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (!path[0] || strlen(path) >= sizeof(out->sun_path))
		return err_set(err, EXIT_USAGE, "unix:%s: give the path of a socket, at most %zu characters", path,
			       sizeof(out->sun_path) - 1);
	memcpy(out->sun_path, path, strlen(path));
	return 0;
}

static bool is_port(const char *text)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && port > 0 && port <= UINT16_MAX;
}

int rsp_split_address(const char *address, char *host, size_t size, const char **port, struct err *err)
{
	const char *colon = strrchr(address, ':'), *start = address, *end = colon;

	if (colon && start[0] == '[' && colon > start && colon[-1] == ']') {
		start++;
		end--;
	}
	if (!colon || !is_port(colon + 1) || end < start || (size_t)(end - start) >= size)
		return err_set(err, EXIT_USAGE, "%s is not a gdbstub's address: give unix:PATH or HOST:PORT", address);
	memcpy(host, start, (size_t)(end - start));
	host[end - start] = 0;
	*port = colon + 1;
	return 0;
}

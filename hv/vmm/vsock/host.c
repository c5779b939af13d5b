// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the Unix socket by which programs of the host reach the vsock device of a guest, with the right owner and mode. */
#include "hv/vmm/vsock/host.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hv/base/own_socket.h"
#include "hv/sandbox/sandbox.h"

#define BACKLOG 16
#define FOLDER_ADVICE "name a socket: --vsock CID,socket=PATH"

struct default_path {
	uint32_t cid;
	char *path; /* VSOCK_PATH_MAX bytes */
};

static int make_default_path(void *ctx, struct err *err)
{
	const struct default_path *d = ctx;
	char folder[VSOCK_PATH_MAX];

	if (own_socket_folder(folder, sizeof(folder), FOLDER_ADVICE, err) < 0)
		return -1;
	if (snprintf(d->path, VSOCK_PATH_MAX, "%s/vsock-%u", folder, d->cid) + sizeof(VSOCK_PORT_SUFFIX) > VSOCK_PATH_MAX)
		return err_set(err, EXIT_INPUT, "the path of the folder %s is too long for a socket; " FOLDER_ADVICE, folder);
	return 0;
}

int vsock_default_path(uint32_t cid, char path[VSOCK_PATH_MAX], struct err *err)
{
	struct default_path d = {cid, path};

	return sandbox_as_user(make_default_path, &d, err);
}

struct listening {
	const char *path, *advice;
};

/* Listen on the socket. Runs as the user (sandbox_as_user()). Returns the file descriptor, or -1 with `err` set. */
static int listen_as_user(void *ctx, struct err *err)
{
	const char *path = ((const struct listening *)ctx)->path, *advice = ((const struct listening *)ctx)->advice;
	int fd = own_socket_listen(path, SOCK_NONBLOCK, BACKLOG);

	if (fd >= 0)
		return fd;
	if (errno == ENAMETOOLONG)
		return err_set(err, EXIT_INPUT, "the path of the socket %s is longer than %d bytes; name a shorter one", path,
			       VSOCK_PATH_MAX - 1);
	if (errno == EADDRINUSE)
		return err_set(err, EXIT_INPUT, "the socket %s is in use; %s", path, advice);
	if (errno == ENOENT)
		return err_set(err, EXIT_INPUT,
			       "cannot listen on the socket %s: there is no such folder; make it, or name another path", path);
	return err_set(err, EXIT_INPUT, "cannot listen on the socket %s as user %u: %s; name another path", path,
		       (unsigned)geteuid(), strerror(errno));
}

int vsock_listen(const char *path, const char *advice, struct err *err)
{
	struct listening l = {path, advice};

	return sandbox_as_user(listen_as_user, &l, err);
}

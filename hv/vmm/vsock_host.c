// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/vmm/vsock_host.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 16

static int own_folder(const char *folder, struct err *err)
{
	struct stat st;

	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return err_set(err, EXIT_INPUT,
			       "cannot make the folder %s for the vsock's socket: %s; name a socket: --vsock CID,socket=PATH",
			       folder, strerror(errno));
	/* The folder may be in /tmp, where anybody could have made it, or a link of that name, before. */
	if (lstat(folder, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
		return err_set(err, EXIT_INPUT,
			       "%s is not a folder that only this user can enter; remove it, or name a socket: --vsock "
			       "CID,socket=PATH",
			       folder);
	return 0;
}

int vsock_default_path(uint32_t cid, char path[VSOCK_PATH_MAX], struct err *err)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char folder[VSOCK_PATH_MAX];
	int len;

	if (runtime && runtime[0] == '/')
		len = snprintf(folder, sizeof(folder), "%s/outrider", runtime);
	else
		len = snprintf(folder, sizeof(folder), "/tmp/outrider-%u", (unsigned)geteuid());
	if (len >= VSOCK_PATH_MAX ||
	    snprintf(path, VSOCK_PATH_MAX, "%s/vsock-%u", folder, cid) + sizeof(VSOCK_PORT_SUFFIX) > VSOCK_PATH_MAX)
		return err_set(err, EXIT_INPUT,
			       "the path of the folder %s is too long for a socket; name a socket: --vsock CID,socket=PATH",
			       folder);
	return own_folder(folder, err);
}

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

int vsock_listen(const char *path, const char *advice, struct err *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return err_set(err, EXIT_INPUT, "the path of the socket %s is longer than %zu bytes; %s", path,
			       sizeof(address.sun_path) - 1, advice);
	strcpy(address.sun_path, path);
	fd = new_socket();
	if (fd < 0)
		return err_set(err, EXIT_INTERNAL, "cannot make a socket: %s", strerror(errno));
	/* The mode of a socket's file is that of the socket at the time of bind(2), so nobody can be faster than a chmod(2). */
	if (fchmod(fd, 0600) == 0 && bind_anew(fd, &address) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	if (errno == EADDRINUSE)
		err_set(err, EXIT_INPUT, "the socket %s is in use; %s", path, advice);
	else
		err_set(err, EXIT_INPUT, "cannot listen on the socket %s: %s; %s", path, strerror(errno), advice);
	close(fd);
	return -1;
}

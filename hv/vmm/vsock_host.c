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

#include "hv/sandbox/sandbox.h"

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

static bool is_own(const char *folder)
{
	struct stat st;

	return lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/*
 * Write the path of the user's folder for sockets into `folder` of `size` bytes. Returns its length, as snprintf() does.
 * sudo(8) sets no XDG_RUNTIME_DIR, or leaves that of another user, and the folder that it names is where pam_systemd(8) makes
 * it.
 */
static int choose_folder(char *folder, size_t size)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	unsigned user = geteuid();
	char usual[32];

	snprintf(usual, sizeof(usual), "/run/user/%u", user);
	if (runtime && runtime[0] == '/' && is_own(runtime))
		return snprintf(folder, size, "%s/outrider", runtime);
	if (is_own(usual))
		return snprintf(folder, size, "%s/outrider", usual);
	return snprintf(folder, size, "/tmp/outrider-%u", user);
}

struct default_path {
	uint32_t cid;
	char *path; /* VSOCK_PATH_MAX bytes */
};

static int make_default_path(void *ctx, struct err *err)
{
	const struct default_path *d = ctx;
	char folder[VSOCK_PATH_MAX];

	if (choose_folder(folder, sizeof(folder)) >= VSOCK_PATH_MAX ||
	    snprintf(d->path, VSOCK_PATH_MAX, "%s/vsock-%u", folder, d->cid) + sizeof(VSOCK_PORT_SUFFIX) > VSOCK_PATH_MAX)
		return err_set(err, EXIT_INPUT,
			       "the path of the folder %s is too long for a socket; name a socket: --vsock CID,socket=PATH",
			       folder);
	return own_folder(folder, err);
}

int vsock_default_path(uint32_t cid, char path[VSOCK_PATH_MAX], struct err *err)
{
	struct default_path d = {cid, path};

	return sandbox_as_user(make_default_path, &d, err);
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

struct listening {
	const char *path, *advice;
};

/* Returns the file descriptor, or -1. */
static int listen_as_user(void *ctx, struct err *err)
{
	const char *path = ((const struct listening *)ctx)->path, *advice = ((const struct listening *)ctx)->advice;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return err_set(err, EXIT_INPUT, "the path of the socket %s is longer than %zu bytes; name a shorter one", path,
			       sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	fd = new_socket();
	if (fd < 0)
		return err_set(err, EXIT_INTERNAL, "cannot make a socket: %s", strerror(errno));
	/* The mode of a socket's file is that of the socket at the time of bind(2), so nobody can be faster than a chmod(2). */
	if (fchmod(fd, 0600) == 0 && bind_anew(fd, &address) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	if (errno == EADDRINUSE)
		err_set(err, EXIT_INPUT, "the socket %s is in use; %s", path, advice);
	else if (errno == ENOENT)
		err_set(err, EXIT_INPUT,
			"cannot listen on the socket %s: there is no such folder; make it, or name another path", path);
	else
		err_set(err, EXIT_INPUT, "cannot listen on the socket %s as user %u: %s; name another path", path,
			(unsigned)geteuid(), strerror(errno));
	close(fd);
	return -1;
}

int vsock_listen(const char *path, const char *advice, struct err *err)
{
	struct listening l = {path, advice};

	return sandbox_as_user(listen_as_user, &l, err);
}

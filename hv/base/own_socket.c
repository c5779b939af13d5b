// SPDX-License-Identifier: GPL-2.0-or-later
/* Unix sockets to which only the user and root can connect. */
#include "hv/base/own_socket.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static bool is_own(const char *folder)
{
	struct stat st;

	return lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/*
 * Write the path of the user's folder for sockets. Under sudo(8), XDG_RUNTIME_DIR is unset or names another user's folder, so
 * try /run/user/UID next, where pam_systemd(8) makes the folder. Returns the length of the path, as snprintf() does.
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

int own_socket_folder(char *folder, size_t size, const char *advice, struct err *err)
{
	struct stat st;

	if ((size_t)choose_folder(folder, size) >= size)
		return err_set(err, EXIT_INPUT, "the path of the folder %s is too long for a socket; %s", folder, advice);
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return err_set(err, EXIT_INPUT, "cannot make the folder %s for a socket: %s; %s", folder, strerror(errno),
			       advice);
	/* The folder may be in /tmp, where another user could have made a folder or a link of that name before. */
	if (lstat(folder, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
		return err_set(err, EXIT_INPUT, "%s is not a folder that only this user can enter; remove it, or %s", folder,
			       advice);
	return 0;
}

/* Returns true if the socket at `address` belongs to this user and no process listens on it. */
static bool is_stale(const struct sockaddr_un *address)
{
	struct stat st;
	bool stale;
	int fd;

	if (lstat(address->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
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

int own_socket_listen(const char *path, int flags, int backlog)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, saved;

	_Static_assert(sizeof(address.sun_path) == OWN_SOCKET_PATH_MAX, "the size that unix(7) gives for sun_path");
	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	if (fd < 0)
		return -1;
	/*
	 * Set the mode before bind(2), which gives the socket's file the mode of the socket. With chmod(2) after bind(2),
	 * another user could connect in between.
	 */
	if (fchmod(fd, 0600) == 0 && bind_anew(fd, &address) == 0 && listen(fd, backlog) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

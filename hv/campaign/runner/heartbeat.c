// SPDX-License-Identifier: GPL-2.0-or-later
/* Receives the heartbeat of the guest agent over a Unix socket. */
#include "hv/campaign/runner/heartbeat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "hv/base/clock.h"

#define PORT 999 /* AGENT_PORT of the guest agent */
#define CID 3
#define FOLDERS "/tmp"
/* Maximum length of $TMPDIR in bytes. The other 32 bytes of the path are for PREFIX and mkdtemp()'s six characters. */
#define FOLDERS_MAX (HEARTBEAT_PATH_MAX - 32)
#define PREFIX "outrider-run-"
#define TRIES 100 /* make_folder() tries this often to make a folder and to lock it before another process sweeps it. */

/* The names of the sockets in the folder: Outrider listens on "v", and connects to "v_PORT" when the guest connects to PORT. */
static const char *const sockets[] = {"v", "v_999"};

static void socket_path(const struct heartbeat *h, const char *suffix, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(address->sun_path, sizeof(address->sun_path), "%s/v%s", h->folder, suffix);
}

/*
 * Returns the folder in which heartbeat_open() makes its folder for the sockets: $TMPDIR, or FOLDERS if $TMPDIR is not set, not
 * an absolute path, or too long.
 */
static const char *folders(void)
{
	const char *asked = getenv("TMPDIR");

	return asked && asked[0] == '/' && strlen(asked) < FOLDERS_MAX ? asked : FOLDERS;
}

/*
 * Make a folder, and lock it against heartbeat_sweep(). Another process can sweep the folder before the lock is taken: then the
 * path leads nowhere or to another folder, and the next attempt makes a new one.
 */
static bool make_folder(struct heartbeat *h)
{
	struct stat there, locked;

	for (int i = 0; i < TRIES; i++) {
		snprintf(h->folder, sizeof(h->folder), "%s/" PREFIX "XXXXXX", folders());
		if (!mkdtemp(h->folder))
			break;
		h->lock = open(h->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (h->lock >= 0 && flock(h->lock, LOCK_EX) == 0 && fstat(h->lock, &locked) == 0 &&
		    lstat(h->folder, &there) == 0 && there.st_dev == locked.st_dev && there.st_ino == locked.st_ino)
			return true;
		if (h->lock >= 0)
			close(h->lock);
		h->lock = -1;
	}
	h->folder[0] = '\0';
	return false;
}

int heartbeat_open(struct heartbeat *h, struct err *err)
{
	struct sockaddr_un address;
	char suffix[16];

	*h = (struct heartbeat){.lock = -1, .listener = -1, .agent = -1};
	/*
	 * The sockets are not in the run's folder, whose path can be too long: a socket's path has at most 107 bytes (unix(7)).
	 * mkdtemp() gives the folder mode 0700.
	 */
	if (!make_folder(h))
		return err_set(err, EXIT_INPUT, "cannot make a folder in %s: %s", folders(), strerror(errno));
	snprintf(suffix, sizeof(suffix), "_%d", PORT);
	socket_path(h, suffix, &address);
	h->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (h->listener < 0 || bind(h->listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(h->listener, 1) < 0)
		return err_set(err, EXIT_INPUT, "cannot listen on %s: %s", address.sun_path, strerror(errno));
	return 0;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void heartbeat_close(struct heartbeat *h)
{
	if (!h->folder[0])
		return;
	for (unsigned i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++)
		unlinkat(h->lock, sockets[i], 0);
	rmdir(h->folder);
	h->folder[0] = '\0';
	close_one(&h->lock);
	close_one(&h->listener);
	close_one(&h->agent);
}

/*
 * Remove the sockets and the folder of a dead process. rmdir() fails if other files are in the folder, so a foreign folder
 * stays.
 */
static void sweep_folder(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0) {
		for (unsigned i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++)
			unlinkat(fd, sockets[i], 0);
		unlinkat(parent, name, AT_REMOVEDIR);
	}
	close(fd);
}

void heartbeat_sweep(void)
{
	DIR *dir = opendir(folders());
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL) {
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0)
			sweep_folder(dirfd(dir), entry->d_name);
	}
	if (dir)
		closedir(dir);
}

void heartbeat_option(const struct heartbeat *h, bool to_repeat, char *out, unsigned size)
{
	if (to_repeat)
		snprintf(out, size, "%d", CID);
	else
		snprintf(out, size, "%d,socket=%s/v", CID, h->folder);
}

uint64_t heartbeat_silence(struct heartbeat *h)
{
	char bytes[4096];
	ssize_t n = -1;

	if (!h->folder[0])
		return 0;
	if (h->agent < 0) {
		h->agent = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		h->last_ns = monotonic_ns();
	}
	if (h->agent < 0)
		return 0;
	/* Read at most 64 KiB in one call, so that a flooding agent does not delay the other runs. */
	for (int i = 0; i < 16 && (n = recv(h->agent, bytes, sizeof(bytes), 0)) > 0; i++)
		h->last_ns = monotonic_ns();
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		close(h->agent);
		h->agent = -1;
		return 0;
	}
	return monotonic_ns() - h->last_ns;
}

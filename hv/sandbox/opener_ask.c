// SPDX-License-Identifier: GPL-2.0-or-later
/* Sends the run's requests to the opener, and waits for its answers. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hv/sandbox/opener.h"
#include "hv/sandbox/opener_wire.h"

/* Longest wait for an answer. A disk takes some seconds to wake from standby. A request for a file on a dead file server fails
 * after this time instead of waiting forever. */
#define ANSWER_MS 30000

/* Serialises requests. The handler of SIGSYS takes this lock too. That cannot deadlock, because no code that holds the lock
 * makes a forbidden system call. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Receive one answer, and set *fd to the file descriptor in it, or to -1. Returns 0, or -errno, such as -ETIMEDOUT after
 * ANSWER_MS.
 */
static int take_answer(int socket, struct opener_answer *answer, int *fd)
{
	union opener_control control;
	struct iovec part = {answer, sizeof(*answer)};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_LEN(sizeof(int))};
	struct pollfd ready = {.fd = socket, .events = POLLIN};
	const struct cmsghdr *c;
	ssize_t n;
	int rc;

	*fd = -1;
	do
		rc = poll(&ready, 1, ANSWER_MS);
	while (rc < 0 && errno == EINTR);
	if (rc != 1)
		return -ETIMEDOUT;
	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return n == (ssize_t)sizeof(*answer) ? 0 : -EIO;
}

/* Send a request and wait for its answer. Returns the file descriptor if `wants_fd`, otherwise 0; or -errno. */
static int ask_locked(int socket, struct opener_request *r, int sent, bool wants_fd)
{
	static uint32_t serial;
	struct opener_answer answer = {0};
	int fd, rc;

	r->serial = ++serial;
	rc = opener_send(socket, r, sizeof(*r), sent) ? 0 : -EIO;
	if (rc < 0)
		return rc;
	for (;;) {
		rc = take_answer(socket, &answer, &fd);
		if (rc < 0 || answer.serial == r->serial)
			break;
		/* Drop an answer to an earlier request, which has timed out. */
		if (fd >= 0)
			close(fd);
	}
	if (rc == 0)
		rc = answer.result;
	if (rc == 0 && wants_fd)
		rc = fd >= 0 ? fd : -EMFILE; /* this process had no free file descriptor */
	else if (fd >= 0)
		close(fd);
	return rc;
}

static int ask(int socket, struct opener_request *r, int sent, bool wants_fd)
{
	int rc;

	pthread_mutex_lock(&lock);
	rc = ask_locked(socket, r, sent, wants_fd);
	pthread_mutex_unlock(&lock);
	return rc;
}

/* ---- configuration, before the guest runs ---- */

static int tell(int socket, enum opener_op op, const char *path)
{
	struct opener_request r = {.op = op};

	if (path && strlen(path) >= sizeof(r.path[0]))
		return -ENAMETOOLONG;
	if (path)
		strcpy(r.path[0], path);
	return ask(socket, &r, -1, false);
}

int opener_tell(int socket, const struct opener_config *config, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < config->file_count && rc == 0; i++)
		if (config->files[i])
			rc = tell(socket, OPENER_LET_FILE, config->files[i]);
	if (rc == 0 && config->folder)
		rc = tell(socket, OPENER_LET_FOLDER, config->folder);
	if (rc == 0 && config->calls)
		rc = tell(socket, OPENER_LET_CALLS, config->calls);
	if (rc == 0)
		rc = tell(socket, OPENER_SEAL, NULL);
	return rc < 0 ? err_set(err, EXIT_INTERNAL, "the process that opens files for the run does not work: %s", strerror(-rc))
		      : 0;
}

/* ---- requests ---- */

int opener_call(int socket, uint32_t port)
{
	struct opener_request r = {.op = OPENER_CALL, .port = port};
	int rc = ask(socket, &r, -1, true);

	if (rc >= 0)
		return rc;
	errno = -rc;
	return -1;
}

/*
 * Copy the path at the address `from`, an argument of the thread's system call. Returns false if `from` is 0 or the path is too
 * long.
 */
static bool copy_path(uint64_t from, char to[PATH_MAX])
{
	const char *path = (const char *)(uintptr_t)from;
	size_t len = path ? strnlen(path, PATH_MAX) : PATH_MAX;

	if (len == PATH_MAX)
		return false;
	memcpy(to, path, len + 1);
	return true;
}

/*
 * Have the opener open a file. The opener has the same working folder as the run, so it resolves relative paths alike. A path
 * relative to another folder is refused.
 */
static long open_file(int socket, int at, uint64_t path, uint64_t flags, uint64_t mode)
{
	struct opener_request r = {.op = OPENER_OPEN, .flags = (uint32_t)flags, .mode = (uint32_t)mode};

	if (!copy_path(path, r.path[0]))
		return -ENAMETOOLONG;
	if (at != AT_FDCWD && r.path[0][0] != '/')
		return -EACCES;
	return ask(socket, &r, -1, true);
}

static long open_below(int socket, const uint64_t args[6])
{
	struct opener_request r = {.op = OPENER_OPEN_BELOW};
	struct open_how how;
	int at = (int)args[0];

	if (args[3] != sizeof(how) || !args[2])
		return -EINVAL;
	memcpy(&how, (const void *)(uintptr_t)args[2], sizeof(how));
	if (how.mode)
		return -EINVAL;
	r.flags = how.flags;
	r.resolve = how.resolve;
	if (!copy_path(args[1], r.path[0]))
		return -ENAMETOOLONG;
	return ask(socket, &r, at == AT_FDCWD ? -1 : at, true);
}

static long rename_file(int socket, uint64_t from, uint64_t to, uint64_t flags)
{
	struct opener_request r = {.op = OPENER_RENAME, .flags = (uint32_t)flags};

	if (!copy_path(from, r.path[0]) || !copy_path(to, r.path[1]))
		return -ENAMETOOLONG;
	return ask(socket, &r, -1, false);
}

static long rename_at(int socket, const uint64_t args[6], uint64_t flags)
{
	if ((int)args[0] != AT_FDCWD || (int)args[2] != AT_FDCWD)
		return -EACCES;
	return rename_file(socket, args[1], args[3], flags);
}

static long unlink_file(int socket, uint64_t path)
{
	struct opener_request r = {.op = OPENER_UNLINK};

	return copy_path(path, r.path[0]) ? ask(socket, &r, -1, false) : -ENAMETOOLONG;
}

bool opener_stands_in(int socket, int call, const uint64_t args[6], long *result)
{
	switch (call) {
	case SYS_open:
		*result = open_file(socket, AT_FDCWD, args[0], args[1], args[2]);
		return true;
	case SYS_openat:
		*result = open_file(socket, (int)args[0], args[1], args[2], args[3]);
		return true;
	case SYS_openat2:
		*result = open_below(socket, args);
		return true;
	case SYS_rename:
		*result = rename_file(socket, args[0], args[1], 0);
		return true;
	case SYS_renameat:
		*result = rename_at(socket, args, 0);
		return true;
	case SYS_renameat2:
		*result = rename_at(socket, args, args[4]);
		return true;
	case SYS_unlink:
		*result = unlink_file(socket, args[0]);
		return true;
	case SYS_unlinkat:
		*result = (int)args[0] == AT_FDCWD && !args[2] ? unlink_file(socket, args[1]) : -EACCES;
		return true;
	default:
		return false;
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The opener's process: receives the run's requests to open, rename and remove files and to connect to Unix sockets, and
 * carries out those that its configuration allows. A request may come from a thread that a guest has taken over.
 */
#include "hv/sandbox/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "hv/base/die_with.h"
#include "hv/sandbox/calls.h"
#include "hv/sandbox/filter.h"
#include "hv/sandbox/opener_places.h"
#include "hv/sandbox/opener_wire.h"
#include "hv/sandbox/privileges.h"

/* Flags that a request to write a file may have. */
#define WRITE_FLAGS (O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
/* Flags that a request to open a file below a folder may have. */
#define READ_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
#define LET_MAX (PLACES_MAX / 2)

struct opener {
	struct places places;
	/*
	 * One path for each file and folder that the opener may write. privileges_write_only() takes the paths of files, and
	 * allows all files in the folder of such a file. So the path for a folder is that of any file in it.
	 */
	char *let[LET_MAX];
	size_t let_count;
	/* a path: the opener may connect to each Unix socket PATH_PORT; "": to none */
	char calls[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	bool sealed;
};

int opener_connect(const char *path, uint32_t port)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, saved;

	if ((size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s_%u", path, port) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

/* ---- requests: each function returns 0 and may set *fd, or returns -1 with errno set ---- */

static int refuse(int error)
{
	errno = error;
	return -1;
}

/*
 * Refuse an existing device or FIFO. The file was opened with O_NONBLOCK, so that open() did not wait for a FIFO's reader. The
 * flag has no effect on regular files.
 */
static int keep_regular(int fd)
{
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	return refuse(EACCES);
}

static int open_to_write(const struct opener *o, const struct opener_request *r, int *fd)
{
	const char *name;
	const struct place *p = places_find(&o->places, r->path[0], &name);

	if (!p)
		return -1;
	if (r->flags & ~(uint64_t)WRITE_FLAGS)
		return refuse(EACCES);
	*fd = keep_regular(
		openat(p->folder, name, (int)r->flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, r->mode & 0777));
	return *fd < 0 ? -1 : 0;
}

/*
 * Open a file for reading. The path need not be among the files that the opener may write, because the requesting thread may
 * open any file for reading by openat(2) itself. The kernel confines the path to the folder as the request's `resolve` says
 * (openat2(2)).
 */
static int open_below(const struct opener_request *r, int folder, int *fd)
{
	const struct open_how how = {.flags = r->flags | O_CLOEXEC, .resolve = r->resolve};

	if (r->flags & ~(uint64_t)READ_FLAGS)
		return refuse(EACCES);
	*fd = (int)syscall(SYS_openat2, folder < 0 ? AT_FDCWD : folder, r->path[0], &how, sizeof(how));
	return *fd < 0 ? -1 : 0;
}

static int rename_file(const struct opener *o, const struct opener_request *r)
{
	const char *from, *to;
	const struct place *p = places_find(&o->places, r->path[0], &from),
			   *q = p ? places_find(&o->places, r->path[1], &to) : NULL;

	if (!q)
		return -1;
	if (p->ino != q->ino || p->dev != q->dev)
		return refuse(EACCES);
	/*
	 * Make the system call directly. Without flags, glibc's renameat2() makes the system call renameat, which the filter
	 * forbids.
	 */
	return (int)syscall(SYS_renameat2, p->folder, from, q->folder, to, (unsigned)r->flags);
}

static int unlink_file(const struct opener *o, const struct opener_request *r)
{
	const char *name;
	const struct place *p = places_find(&o->places, r->path[0], &name);

	return p ? unlinkat(p->folder, name, 0) : -1;
}

static int call_port(const struct opener *o, const struct opener_request *r, int *fd)
{
	if (!o->calls[0])
		return refuse(EACCES);
	*fd = opener_connect(o->calls, r->port);
	return *fd < 0 ? -1 : 0;
}

static int do_request(const struct opener *o, const struct opener_request *r, int sent, int *fd)
{
	switch (r->op) {
	case OPENER_OPEN:
		return open_to_write(o, r, fd);
	case OPENER_OPEN_BELOW:
		return open_below(r, sent, fd);
	case OPENER_RENAME:
		return rename_file(o, r);
	case OPENER_UNLINK:
		return unlink_file(o, r);
	case OPENER_CALL:
		return call_port(o, r, fd);
	default:
		return refuse(EINVAL);
	}
}

/* ---- configuration, before the guest runs ---- */

static int note_writes(struct opener *o, const char *folder, const char *name)
{
	if (o->let_count == LET_MAX || asprintf(&o->let[o->let_count], "%s%s", folder, name) < 0)
		return -1;
	o->let_count++;
	return 0;
}

static int seal(struct opener *o)
{
	struct err err = {0};

	privileges_limit();
	if (privileges_write_only((const char *const *)o->let, o->let_count, &err) < 0)
		return refuse(EPERM);
	if (filter_load(CALLS_OPENER, "opener", -1, &err) < 0)
		return refuse(EPERM);
	o->sealed = true;
	return 0;
}

static int take_word(struct opener *o, const struct opener_request *r)
{
	switch (r->op) {
	case OPENER_LET_FILE:
		return places_let_file(&o->places, r->path[0]) < 0 ? -1 : note_writes(o, r->path[0], "");
	case OPENER_LET_FOLDER:
		return places_let_folder(&o->places, r->path[0]) < 0 ? -1 : note_writes(o, r->path[0], "/any");
	case OPENER_LET_CALLS:
		return snprintf(o->calls, sizeof(o->calls), "%s", r->path[0]) < (int)sizeof(o->calls) ? 0 : -1;
	case OPENER_SEAL:
		return seal(o);
	default:
		return refuse(EACCES);
	}
}

/* ---- messages ---- */

/* Receive a request, and set *sent to the file descriptor in the message, or to -1. Returns true if the request is complete. */
static bool take(int socket, struct opener_request *r, int *sent)
{
	union opener_control control;
	struct iovec part = {r, sizeof(*r)};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_LEN(sizeof(int))};
	const struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	*sent = -1;
	c = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(sent, CMSG_DATA(c), sizeof(*sent));
	r->path[0][PATH_MAX - 1] = r->path[1][PATH_MAX - 1] = '\0';
	return n == (ssize_t)sizeof(*r);
}

static void close_if(int fd)
{
	if (fd >= 0)
		close(fd);
}

void opener_serve(void *ctx, pid_t parent, int socket)
{
	struct opener o = {.sealed = false};
	struct opener_request r = {0};
	struct err err = {0};
	bool more = true;
	int sent;

	(void)ctx;
	/* Keep other processes of the user from reading this process's memory through /proc. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_NAME, "opener", 0, 0, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || privileges_drop(&err) < 0)
		return;
	/* Set the death signal again: a change of the user clears it (prctl(2), PR_SET_PDEATHSIG). */
	die_with(parent);
	while (more && take(socket, &r, &sent)) {
		struct opener_answer answer = {.serial = r.serial};
		int fd = -1, rc = o.sealed ? do_request(&o, &r, sent, &fd) : take_word(&o, &r);

		answer.result = rc < 0 ? -errno : 0;
		more = opener_send(socket, &answer, sizeof(answer), fd);
		close_if(fd);
		close_if(sent);
	}
}

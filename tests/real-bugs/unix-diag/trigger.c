/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One thread binds a Unix socket to a path and closes it, and the other asks the kernel for the inode of this socket's path. */
#include "../netlink.h"

#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/un.h>

static atomic_uint newest; /* inode number of the socket; 0: none yet */
static int diag, bound;

static void bind_and_close(void *opaque)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "/tmp/s"};
	int fd = need(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "make a Unix socket");
	struct stat st;

	(void)opaque;
	if (is_explored_step) {
		close(bound);
		return;
	}
	unlink(at.sun_path);
	need(bind(fd, (const struct sockaddr *)&at, sizeof(at)), "bind a Unix socket");
	need(fstat(fd, &st), "fstat a socket");
	atomic_store(&newest, (unsigned int)st.st_ino);
	sched_yield();
	if (!is_explored()) {
		close(fd);
		return;
	}
	/* Only the socket has its path then, and its close frees the dentry. */
	bound = fd;
	unlink(at.sun_path);
}

static void show(void *opaque)
{
	struct unix_diag_req body = {
		.sdiag_family = AF_UNIX, .udiag_states = ~0u, .udiag_show = UDIAG_SHOW_VFS | UDIAG_SHOW_NAME};
	struct nl_request r;

	(void)opaque;
	body.udiag_ino = atomic_load(&newest);
	body.udiag_cookie[0] = body.udiag_cookie[1] = ~0u;
	nl_begin(&r, SOCK_DIAG_BY_FAMILY, 0, &body, sizeof(body));
	nl_talk(diag, &r);
}

int main(void)
{
	diag = nl_open(NETLINK_SOCK_DIAG);
	if (is_explored())
		bind_and_close(NULL);
	repeat_both(bind_and_close, show, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unix sockets that only the user (and root) can connect to. Each has mode 0600, and there is a folder of mode 0700 for those
 * whose path the user does not say. The user is the process's effective one.
 */
#ifndef OUTRIDER_BASE_OWN_SOCKET_H
#define OUTRIDER_BASE_OWN_SOCKET_H

#include <stddef.h>

#include "hv/base/err.h"

/* The size in bytes of a buffer that holds the path of any socket with its NUL (unix(7)). */
#define OWN_SOCKET_PATH_MAX 108

/*
 * Write the path of the user's folder for sockets into `folder` of `size` bytes, and make the folder if it is not there. It is
 * "outrider" in $XDG_RUNTIME_DIR or in /run/user/UID, the first of them that is the user's, or else /tmp/outrider-UID. Only the
 * user may own and enter it. Returns 0, or -1 with EXIT_INPUT. `advice` is the end of the message: what the user can do then.
 */
int own_socket_folder(char *folder, size_t size, const char *advice, struct err *err);

/*
 * Listen on the Unix socket `path`, with mode 0600 from its first moment on. A socket of this user's that no process listens on
 * any more is replaced; nothing else is. `flags` are those of socket(2), as SOCK_NONBLOCK. Returns the descriptor, or -1 with
 * errno set: EADDRINUSE when there is a file already, ENAMETOOLONG when the path does not fit.
 */
int own_socket_listen(const char *path, int flags, int backlog);

#endif

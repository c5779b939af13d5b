/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unix sockets that only the user (and root) can connect to. Each socket has mode 0600. A socket whose path the user does not
 * give is made in a folder of mode 0700. "The user" is the effective user of the process.
 */
#ifndef OUTRIDER_BASE_OWN_SOCKET_H
#define OUTRIDER_BASE_OWN_SOCKET_H

#include <stddef.h>

#include "hv/base/err.h"

/* The size in bytes of a buffer that holds the path of any socket with its NUL (unix(7)). */
#define OWN_SOCKET_PATH_MAX 108

/*
 * Write the path of the user's folder for sockets into `folder` of `size` bytes, and make the folder if it does not exist. The
 * folder is $XDG_RUNTIME_DIR/outrider if the user owns $XDG_RUNTIME_DIR, else /run/user/UID/outrider if the user owns
 * /run/user/UID, else /tmp/outrider-UID. Only the user may own and enter it. Returns 0, or -1 with EXIT_INPUT. `advice` is the
 * end of the error message: what the user can do instead.
 */
int own_socket_folder(char *folder, size_t size, const char *advice, struct err *err);

/*
 * Create the Unix socket `path` and listen on it. The file never has another mode than 0600. Replaces an existing socket of
 * this user on which no process listens any more, but no other file. `flags` are flags of socket(2), such as SOCK_NONBLOCK.
 * Returns the descriptor, or -1 with errno set: EADDRINUSE if the file exists and is not replaced, ENAMETOOLONG if the path is
 * too long.
 */
int own_socket_listen(const char *path, int flags, int backlog);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Unix sockets by which programs of the host and the vsock device of a guest connect to each other. */
#ifndef OUTRIDER_VMM_VSOCK_HOST_H
#define OUTRIDER_VMM_VSOCK_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

/* Size in bytes of a buffer that holds any such path: the size of sockaddr_un.sun_path (unix(7)). */
#define VSOCK_PATH_MAX 108

/* The longest "_PORT" that is appended to the device's path for a port of the host. */
#define VSOCK_PORT_SUFFIX "_4294967295"

/*
 * Write the default path of the socket of the guest with the context id `cid` into `path` of VSOCK_PATH_MAX bytes. It is in the
 * folder "outrider" of $XDG_RUNTIME_DIR or of /run/user/UID, whichever the user owns first, or else in the folder
 * /tmp/outrider-UID. A missing folder is created. Only the user may own it and enter it, because any process that reaches the
 * socket can connect to programs in the guest. The user is the one that the process will become (sandbox_as_user()). Returns 0,
 * or -1 with EXIT_INPUT when the folder cannot be used, or the path is too long for a socket.
 */
int vsock_default_path(uint32_t cid, char path[VSOCK_PATH_MAX], struct err *err);

/*
 * Listen on the Unix socket `path`, with mode 0600. Replaces a socket without a listener, but no other file. Returns the
 * non-blocking file descriptor, or -1 with EXIT_INPUT. `advice` ends the message about a socket in use: what the user can do.
 */
int vsock_listen(const char *path, const char *advice, struct err *err);

#endif

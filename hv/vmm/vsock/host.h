/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the Unix sockets by which programs of the host and the vsock device of a guest connect to each other. */
#ifndef OUTRIDER_VMM_VSOCK_HOST_H
#define OUTRIDER_VMM_VSOCK_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

/* Size in bytes of a buffer for the path of any Unix socket: the size of sockaddr_un.sun_path (unix(7)). */
#define VSOCK_PATH_MAX 108

/*
 * The longest suffix "_PORT". A program of the host listens on PATH_PORT for connections of the guest to the host's port PORT.
 */
#define VSOCK_PORT_SUFFIX "_4294967295"

/*
 * Write the default path of the socket of the guest with the context id `cid` into `path` of VSOCK_PATH_MAX bytes. The socket
 * is in the folder that own_socket_folder() chooses and makes, for the user that the process will become (sandbox_as_user()).
 * Only that user can enter the folder, because any process that reaches the socket can connect to programs in the guest.
 * Returns 0, or -1 with EXIT_INPUT if the folder cannot be used, or if the path is too long for a socket.
 */
int vsock_default_path(uint32_t cid, char path[VSOCK_PATH_MAX], struct err *err);

/*
 * Listen on the Unix socket `path`, with mode 0600. Replaces a socket without a listener, but no other file. Returns the
 * non-blocking file descriptor, or -1 with EXIT_INPUT. `advice` is the end of the message for a socket that is in use: what the
 * user can do.
 */
int vsock_listen(const char *path, const char *advice, struct err *err);

#endif

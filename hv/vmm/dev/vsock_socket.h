/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Unix sockets by which programs of the host reach a vsock device, and are reached. vsock_streams.h says how they are used.
 */
#ifndef OUTRIDER_VMM_DEV_VSOCK_SOCKET_H
#define OUTRIDER_VMM_DEV_VSOCK_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/vmm/vsock_path.h"

/*
 * Listen on the socket `path`, with mode 0600. A socket that nobody listens on is replaced; any other file is not. Returns the
 * file descriptor, which does not block, or -1 with EXIT_INPUT.
 */
int vsock_socket_listen(const char *path, struct err *err);

/* Connect to the program that listens for `port` of the host. Returns the file descriptor, or -1 when there is none. */
int vsock_socket_call(const char *path, uint32_t port);

/* Read "CONNECT PORT", without its newline. */
bool vsock_socket_read_call(const char *line, uint32_t *port);

#endif

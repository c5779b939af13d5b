/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a vsock device and programs of the host call each other by Unix sockets. vsock_streams.h says more.
 */
#ifndef OUTRIDER_VMM_DEV_VSOCK_SOCKET_H
#define OUTRIDER_VMM_DEV_VSOCK_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

/* Connect to the program that listens for `port` of the host. Returns the file descriptor, or -1 when there is none. */
int vsock_socket_call(const char *path, uint32_t port);

/* Read "CONNECT PORT", without its newline. */
bool vsock_socket_read_call(const char *line, uint32_t *port);

#endif

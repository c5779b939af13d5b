/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connects a vsock device with programs of the host by Unix sockets. streams.h describes the protocol. */
#ifndef OUTRIDER_VMM_VSOCK_SOCKET_H
#define OUTRIDER_VMM_VSOCK_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Connect to the program that listens for `port` of the host. Returns the file descriptor, or -1 with errno set, for example if
 * no program listens.
 */
int vsock_socket_call(const char *path, uint32_t port);

/* Parse the line "CONNECT PORT" without its newline. Returns false if it is malformed. */
bool vsock_socket_read_call(const char *line, uint32_t *port);

#endif

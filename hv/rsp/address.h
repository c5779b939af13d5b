/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses as gdb and gdbstubs write them: "unix:PATH" and "HOST:PORT". A HOST in brackets may contain colons. */
#ifndef OUTRIDER_RSP_ADDRESS_H
#define OUTRIDER_RSP_ADDRESS_H

#include <stddef.h>
#include <sys/un.h>

#include "hv/base/err.h"

/* Returns the path of "unix:PATH", or NULL if the address has another form. */
const char *rsp_unix_path(const char *address);

/* Convert a path to a socket's address. Returns 0, or -1 with EXIT_USAGE in `err`. */
int rsp_unix_address(const char *path, struct sockaddr_un *out, struct err *err);

/*
 * Split "HOST:PORT". The host may be empty. *port points into `address`. Returns 0, or -1 with EXIT_USAGE in `err` when the
 * address has another form, or when the host has `size` bytes or more.
 */
int rsp_split_address(const char *address, char *host, size_t size, const char **port, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The addresses that gdb and its stubs give each other: "unix:PATH", and "HOST:PORT", where a host in brackets may hold colons.
 */
#ifndef OUTRIDER_RSP_ADDRESS_H
#define OUTRIDER_RSP_ADDRESS_H

#include <stddef.h>
#include <sys/un.h>

#include "hv/base/err.h"

/* The path of "unix:PATH". NULL: the address is not of this form. */
const char *rsp_unix_path(const char *address);

/* Make the path a socket's address. Returns 0, or -1 with `err` set to EXIT_USAGE. */
int rsp_unix_address(const char *path, struct sockaddr_un *out, struct err *err);

/*
 * Cut "HOST:PORT" in two. The host may be empty. `port` becomes a part of `address`. Returns 0, or -1 with `err` set to
 * EXIT_USAGE when it is not of this form, or the host has `size` bytes or more.
 */
int rsp_split_address(const char *address, char *host, size_t size, const char **port, struct err *err);

#endif

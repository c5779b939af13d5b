/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages between the run and its opener. Only hv/sandbox/opener*.c use this header. */
#ifndef OUTRIDER_SANDBOX_OPENER_WIRE_H
#define OUTRIDER_SANDBOX_OPENER_WIRE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum opener_op {
	/* Before OPENER_SEAL: which requests to allow later. */
	OPENER_LET_FILE,   /* Allow writing the file path[0]. */
	OPENER_LET_FOLDER, /* Allow writing files of any name in the folder path[0]. */
	OPENER_LET_CALLS,  /* Allow connecting to the Unix sockets path[0]_PORT. */
	OPENER_SEAL,
	/* After OPENER_SEAL: the requests themselves. */
	OPENER_OPEN,	   /* open(path[0], flags, mode) */
	OPENER_OPEN_BELOW, /* openat2(file descriptor in the message, or AT_FDCWD, path[0], {flags, 0, resolve}) */
	OPENER_RENAME,	   /* renameat2(path[0], path[1], flags) */
	OPENER_UNLINK,	   /* unlink(path[0]) */
	OPENER_CALL,	   /* connect to the Unix socket of `port` */
};

struct opener_request {
	uint32_t serial;
	uint32_t op;
	uint64_t flags, resolve;
	uint32_t mode, port;
	char path[2][PATH_MAX];
};

struct opener_answer {
	uint32_t serial; /* serial of the request */
	int32_t result;	 /* 0, with a file descriptor if the request wants one; or -errno */
};

/* Room for one file descriptor in a message (cmsg(3)). */
union opener_control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/*
 * Send `size` bytes at `bytes` as one message, with the file descriptor `fd`, -1 for none. Async-signal-safe. Returns true if
 * all bytes were sent.
 */
bool opener_send(int socket, const void *bytes, size_t size, int fd);

#endif

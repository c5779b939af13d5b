/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A helper: a process beside the run that does what the run's own threads must not do. No guest runs in it. It is forked before
 * the machine has RAM, so it has no copy of guest memory. Its only file descriptors are a socket to the run and its output. It
 * ends with the run: the kernel kills it when the thread that forked it ends, and it exits when it reads end-of-file from its
 * socket.
 */
#ifndef OUTRIDER_SANDBOX_HELPER_H
#define OUTRIDER_SANDBOX_HELPER_H

#include <stddef.h>
#include <sys/types.h>

#include "hv/base/err.h"

struct helper {
	pid_t pid;   /* 0: none. */
	pid_t owner; /* the process that forked it */
	int socket;  /* SOCK_SEQPACKET: each message is read as a whole. */
	int output;  /* a pipe, not blocking: what the process wrote to its standard output and standard error */
};

/*
 * Start the process. It calls serve(ctx, parent, socket), and ends when serve() returns. serve() must return when it reads
 * end-of-file from the socket, or a message that has not the length of a request. The process ignores Ctrl-C. Its standard
 * output and standard error never block: output that does not fit into the pipe (64 KiB) is lost. Returns 0, or -1 with
 * EXIT_INTERNAL. helper_stop() ends the process.
 */
int helper_start(struct helper *h, void (*serve)(void *ctx, pid_t parent, int socket), void *ctx, struct err *err);

/*
 * Shut down the socket, so that the process ends, and wait for its end up to `patience_ms`. If the process is still busy then,
 * leave it running: the kernel kills it when the thread that forked it ends. Does nothing for a zeroed struct, or in a copy of
 * the process that called helper_start().
 */
void helper_stop(struct helper *h, int patience_ms);

/*
 * Copy into `text`, of `size` bytes, how the process ended and the end of its output, as one printable line, such as "it was
 * killed by signal 6: assertion failed". Waits up to `patience_ms` for its end. If the process has not ended by then, the text
 * is empty.
 */
void helper_last_words(const struct helper *h, unsigned patience_ms, char *text, size_t size);

#endif

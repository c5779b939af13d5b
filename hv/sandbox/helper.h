/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A helper: a small process beside the run that does what the run's own threads must not do. No guest runs in it. It is forked
 * before there is a machine, has one file descriptor, a socket to the run, and ends with the run: the kernel kills it when the
 * thread that forked it ends, and it ends itself when it reads the end of its socket, after the last process with the other
 * side open has ended.
 */
#ifndef OUTRIDER_SANDBOX_HELPER_H
#define OUTRIDER_SANDBOX_HELPER_H

#include <sys/types.h>

#include "hv/base/err.h"

struct helper {
	pid_t pid;  /* 0: none. */
	int socket; /* SOCK_SEQPACKET: each message is read as a whole. */
};

/*
 * Start the process. It calls serve(ctx, parent, socket), and ends when that returns. serve() must return on a message whose
 * length is not that of its requests. The process's standard streams are closed, and it ignores Ctrl-C. Returns 0, or -1 with
 * EXIT_INTERNAL. helper_stop() ends the process.
 */
int helper_start(struct helper *h, void (*serve)(void *ctx, pid_t parent, int socket), void *ctx, struct err *err);

/*
 * Tell the process to end by a message of one byte, which no helper uses for requests, and wait until it has ended, for 30
 * seconds at most. Does nothing for a zeroed struct. SIGPIPE must be ignored, or the process must be alive.
 */
void helper_stop(struct helper *h);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The opener: a helper process (helper.h) that opens files for writing, renames and removes files, and connects to Unix sockets
 * for the run's threads, which must not do this themselves. Before the guest's first instruction, opener_tell() sends the
 * opener the files and sockets that the run was configured with. From then on the opener serves only requests for these, even
 * if a guest has taken over a thread. File descriptors are passed by SCM_RIGHTS (unix(7)).
 *
 * The opener runs as the same user as the run (privileges_drop()), and is confined too: it can write only in the folders of
 * those files (landlock(7), if the kernel has it), and may make no system call for networks, programs or processes.
 */
#ifndef OUTRIDER_SANDBOX_OPENER_H
#define OUTRIDER_SANDBOX_OPENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/sandbox/helper.h"

/* Body of the opener's process, for helper_start(). `ctx` is not used. */
void opener_serve(void *ctx, pid_t parent, int socket);

/* The requests to allow. */
struct opener_config {
	const char *const *files; /* NULL elements are ignored */
	size_t file_count;
	const char *folder; /* a folder in which the opener may write files of any name; NULL: none */
	const char *calls;  /* the opener may connect to each Unix socket CALLS_PORT, where CALLS is this path; NULL: to none */
};

/*
 * Tell the opener at the other end of `socket` which requests to allow. This can be done only once. Returns 0, or -1 with
 * EXIT_INTERNAL.
 */
int opener_tell(int socket, const struct opener_config *config, struct err *err);

/*
 * Have the opener at the other end of `socket` connect to the Unix socket CALLS_PORT, on which a host program listens for the
 * guest's connections to vsock port `port` (opener_config.calls). Takes some microseconds. Returns a non-blocking file
 * descriptor, or -1 with errno set.
 */
int opener_call(int socket, uint32_t port);

/* Connect to the Unix socket PATH_PORT from the calling process. Returns a non-blocking file descriptor, or -1 with errno
 * set. */
int opener_connect(const char *path, uint32_t port);

/*
 * Have the opener make a system call that is forbidden to the calling thread. To be called in the handler of SIGSYS, the signal
 * that the kernel sends for a forbidden call; there it is async-signal-safe. Returns false if the opener does not make calls of
 * this number. Otherwise sets *result to the call's result, -errno for an error. A request that is not allowed fails with
 * EACCES.
 */
bool opener_stands_in(int socket, int call, const uint64_t args[6], long *result);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the memory of the process at the other end of a Unix socket.
 *
 * A process ID alone is not reliable. SO_PEERCRED (unix(7)) names the process that listened, which may have passed the socket
 * on and exited. A PID file may be old. Either ID may belong to another process by now. So the process must have the peer
 * socket itself open.
 */
#ifndef OUTRIDER_TARGET_GDB_PROCESS_H
#define OUTRIDER_TARGET_GDB_PROCESS_H

#include <sys/types.h>

/*
 * Open the memory of the process `pid`, if that process has the other end of `socket` open. `pid` 0: the process that
 * SO_PEERCRED names. Returns a descriptor, which the caller owns: pread(2) at an offset reads the process's memory at that
 * address. After the process has exited, reads fail, even if its ID is reused. Returns -1 on failure, and sets *why to a few
 * words for the user that say why the memory cannot be read.
 */
int gdb_process_open(int socket, pid_t pid, const char **why);

#endif

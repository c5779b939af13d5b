/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of the process at the other end of a Unix socket.
 *
 * A process ID alone is not reliable. SO_PEERCRED (unix(7)) names the process that listened, which may have passed the socket
 * on and exited. A PID file may be old. Either ID may belong to another process by now. So the process must own the very
 * socket that this end is connected to.
 */
#ifndef OUTRIDER_TARGET_GDB_PROCESS_H
#define OUTRIDER_TARGET_GDB_PROCESS_H

#include <sys/types.h>

/*
 * Open the memory of the process `pid`, if it owns the other end of `socket`. `pid` 0: the process that SO_PEERCRED names. The
 * caller owns the descriptor, which gives access by pread(2) at the addresses of that process. After the process has exited,
 * reads fail, even if its ID is reused. Returns -1 on failure; *why then tells in a few words for the user why the memory
 * cannot be read.
 */
int gdb_process_open(int socket, pid_t pid, const char **why);

#endif

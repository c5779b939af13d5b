/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of the process at the other end of a Unix socket.
 *
 * A process id alone is not to be trusted. The one that the socket tells (SO_PEERCRED, unix(7)) is that of the process that
 * listened, which may have handed the socket on and ended; the one in a file may be old; and either may name another process
 * by now. So the process must have the very socket that ours is connected to.
 */
#ifndef OUTRIDER_TARGET_GDB_PROCESS_H
#define OUTRIDER_TARGET_GDB_PROCESS_H

#include <sys/types.h>

/*
 * Open the memory of the process `pid` if it holds the other end of `socket`. A `pid` of 0 stands for the process that the
 * socket tells. The descriptor, which the caller owns, gives access by pread(2) at the addresses of that process. It belongs to
 * the process as it is now: after the process has ended nothing can be read, whatever process gets its id. Returns -1 on
 * failure, and `why` becomes a few words for the user that say whose memory cannot be read.
 */
int gdb_process_open(int socket, pid_t pid, const char **why);

#endif

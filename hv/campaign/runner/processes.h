/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resources and open files of processes, from /proc. The runner needs these functions on hosts where it cannot use control
 * groups. Not thread-safe.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_PROCESSES_H
#define OUTRIDER_CAMPAIGN_RUNNER_PROCESSES_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Store the sums over the processes of a process group: their CPU time in nanoseconds, with the CPU time of children that they
 * have reaped, and their resident memory in bytes. Memory that several processes share is added once for each of them.
 */
void processes_usage(pid_t group, uint64_t *cpu_ns, uint64_t *memory);

/* Send SIGKILL to all other processes whose standard error is the file `fd`. Does nothing if `fd` is no regular file. */
void processes_kill_holders(int fd);

#endif

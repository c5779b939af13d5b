/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resources and open files of processes, from /proc. Used instead of control groups on hosts where they cannot be used. Not
 * thread-safe.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_PROCESSES_H
#define OUTRIDER_CAMPAIGN_RUNNER_PROCESSES_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Sum up the processes of a process group: CPU time in nanoseconds, with that of reaped children, and resident memory in bytes.
 * Memory that several processes share is added once for each of them.
 */
void processes_usage(pid_t group, uint64_t *cpu_ns, uint64_t *memory);

/* Send SIGKILL to all other processes whose standard error is the file `fd`. Does nothing if `fd` is no regular file. */
void processes_kill_holders(int fd);

#endif

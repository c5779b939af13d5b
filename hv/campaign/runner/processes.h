/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What /proc says of groups of processes, for hosts without control groups that we may use. One thread. */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_PROCESSES_H
#define OUTRIDER_CAMPAIGN_RUNNER_PROCESSES_H

#include <stdint.h>
#include <sys/types.h>

/*
 * CPU time that the processes of the group `group` have used, with that of children that they have waited for, and the memory
 * that they have in RAM. Memory that several share is counted for each.
 */
void processes_usage(pid_t group, uint64_t *cpu_ns, uint64_t *memory);

/* Kill all other processes whose standard error is the file `fd`. */
void processes_kill_holders(int fd);

#endif

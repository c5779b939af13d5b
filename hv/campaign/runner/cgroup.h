/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Control groups of version 2 (cgroups(7)), if this process may make some. Each run has a control group, which counts the run's
 * resources, limits its memory, and kills all its processes at once. Not thread-safe.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_CGROUP_H
#define OUTRIDER_CAMPAIGN_RUNNER_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The control group in which this process makes a group for each run. */
struct cgroup_base {
	char path[PATH_MAX]; /* "": no group was found */
	bool memory;	     /* The memory controller can be used. */
	unsigned made;
};

/* The control group of one run. `path` is "" if the run has none. */
struct cgroup {
	char path[PATH_MAX];
};

/*
 * Find a group in which this process can make others. To limit memory, the process moves to a new child group of its own. If no
 * group is found, base->path is "", and the functions below do nothing.
 */
void cgroup_find(struct cgroup_base *base);

/* Undo cgroup_find(): leave the child group and remove it. */
void cgroup_leave(struct cgroup_base *base);

/* Make a group for a run. `memory` is the limit of its memory in bytes; 0: no limit. */
void cgroup_make(struct cgroup_base *base, struct cgroup *g, uint64_t memory);

/* Move the calling process into the group. Calls no malloc(), so that a child may call it after fork(). */
void cgroup_enter(const struct cgroup *g);

/* Read the group's CPU time in nanoseconds and its memory in bytes. A value that cannot be read stays unchanged. */
void cgroup_usage(const struct cgroup *g, uint64_t *cpu_ns, uint64_t *memory);

/* Returns whether the kernel killed a process of the group because the group exceeded its memory limit. */
bool cgroup_ran_out(const struct cgroup *g);

/* Kill all processes of the group. */
void cgroup_kill(const struct cgroup *g);

/* Remove the group after its last process ended. */
void cgroup_remove(struct cgroup *g);

#endif

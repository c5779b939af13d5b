/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups of processes by control groups of version 2 (cgroups(7)), where this process may make some: each run has a group,
 * which counts all that the run uses, limits its memory, and ends all of it at once. One thread.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_CGROUP_H
#define OUTRIDER_CAMPAIGN_RUNNER_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Where groups are made. */
struct cgroup_base {
	char path[PATH_MAX]; /* "": nowhere */
	bool memory;	     /* Memory can be limited. */
	unsigned made;
};

/* One group. "": there is none. */
struct cgroup {
	char path[PATH_MAX];
};

/*
 * Find where groups can be made. This process may be moved into a group of its own beside them, which limits of memory need.
 * It is no error when there is no place.
 */
void cgroup_find(struct cgroup_base *base);

/* Undo what cgroup_find() did. */
void cgroup_leave(struct cgroup_base *base);

/* Make a group with a limit of memory in bytes, or 0. */
void cgroup_make(struct cgroup_base *base, struct cgroup *g, uint64_t memory);

/* Move the calling process into the group. Only calls that a process may make behind fork(). */
void cgroup_enter(const struct cgroup *g);

/* The CPU time that the group has used, and the memory that it uses. What is not known stays as it is. */
void cgroup_usage(const struct cgroup *g, uint64_t *cpu_ns, uint64_t *memory);

/* Whether a process of the group was killed since its memory was used up. */
bool cgroup_ran_out(const struct cgroup *g);

/* Kill all processes of the group. */
void cgroup_kill(const struct cgroup *g);

/* Remove the group, which has no process any more. */
void cgroup_remove(struct cgroup *g);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All descendants of one process, the root: its children, their children, and so on, as /proc shows them. They are found by
 * their parents, so a process that leaves its session and its process group is found, too. The root must be a subreaper
 * (PR_SET_CHILD_SUBREAPER): otherwise a process whose parent has ended becomes a child of init, and is not found.
 */
#ifndef OUTRIDER_PROCESSES_H
#define OUTRIDER_PROCESSES_H

struct process_sum {
	unsigned int count; /* number of processes below the root; the root is not counted */
	double cpu_seconds; /* CPU time of the counted processes, and of the children that they and the root have waited for */
};

/* Sum up the processes below `root`. A process that cannot be read is left out. */
struct process_sum processes_below(int root);

/* Send the signal to every process below the calling process. Returns how many signals were sent. */
unsigned int processes_signal(int signal);

#endif

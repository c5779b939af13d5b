/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All processes that come from one process: its children, theirs, and so on, as /proc shows them. A process that leaves its
 * session and its group still has a parent, so nothing escapes as long as the one process is a subreaper
 * (PR_SET_CHILD_SUBREAPER).
 */
#ifndef OUTRIDER_PROCESSES_H
#define OUTRIDER_PROCESSES_H

struct process_sum {
	unsigned int count; /* processes below the root; the root is not counted */
	double cpu_seconds; /* CPU time of these and of the children that they and the root have waited for */
};

/* Sum up the processes below `root`. What cannot be read counts as nothing. */
struct process_sum processes_below(int root);

/* Send the signal to every process below the calling one. Returns how many there were. */
unsigned int processes_signal(int signal);

#endif

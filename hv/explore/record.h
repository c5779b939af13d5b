/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records the accesses of one program that runs alone. */
#ifndef OUTRIDER_EXPLORE_RECORD_H
#define OUTRIDER_EXPLORE_RECORD_H

#include "hv/explore/base.h"
#include "hv/base/err.h"
#include "hv/explore/facts.h"
#include "hv/explore/kernel.h"

/* The most tasks of a program whose task_structs are kept. */
#define RECORDED_TASKS_MAX 64u

/* A recording in memory that the recording process shares with its parent. */
struct recorded {
	struct explore_recording summary;
	/* Registers of the CPU in kernel mode, for record_kernel(). rip 0: none. */
	struct x86_regs kernel;
	int32_t first_pid; /* process ID of the process that waited at the mark; -1: unknown */
	/* GVAs of the task_structs of tasks that were started later: the first RECORDED_TASKS_MAX of them. */
	uint64_t task[RECORDED_TASKS_MAX];
	uint32_t tasks;
	uint32_t count;
	struct explore_access access[EXPLORE_ACCESSES_MAX];
};

/*
 * Let the program of `side` run alone in a copy of the base, in a process of its own, and record its accesses. Kernel code of
 * its CPU is single-stepped from the entry of a system call on, and in calls of the functions of base->also[side]; all other
 * code runs at full speed. The recording has no accesses to user memory, to the stack of the running task, or relative to GS,
 * where the CPU's own data is, and none that the idle task makes. Returns the recording, which the caller frees by
 * recorded_free(), or NULL with `err` set.
 */
struct recorded *record_side(const struct base *base, const struct explore_config *config, const struct kernel *kernel,
			     unsigned side, struct err *err);

/*
 * The same for the baseline program, which side 0 runs in place of its command: a short shell script, which starts and ends
 * processes as nearly every program does.
 */
struct recorded *record_baseline(const struct base *base, const struct explore_config *config, const struct kernel *kernel,
				 struct err *err);

/*
 * The same for `side` while the other side is held after its access `after`, or after the release of the lock that both
 * accesses of the candidate have in common (drive_through()). If the other side does not come to this access,
 * the recording is empty. It also ends when the side has made no step for an EXPLORE_PARTS-th of config->trial_ns, because it
 * waits for the other side.
 */
struct recorded *record_after(const struct base *base, const struct explore_config *config, const struct kernel *kernel,
			      unsigned side, const struct explore_side *after, struct err *err);

/*
 * Find registers of a CPU in kernel mode, with which kernel_open() can find the kernel, in a copy whose program A makes its
 * first system call. Returns 0, or -1 with `err` set.
 */
int record_kernel(const struct base *base, const struct explore_config *config, struct x86_regs *regs, struct err *err);
void recorded_free(struct recorded *r);

#endif

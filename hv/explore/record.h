/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records the accesses of one program that runs alone. */
#ifndef OUTRIDER_EXPLORE_RECORD_H
#define OUTRIDER_EXPLORE_RECORD_H

#include "hv/explore/base.h"
#include "hv/base/err.h"
#include "hv/explore/facts.h"
#include "hv/explore/kernel.h"

/* Maximum number of task_structs whose addresses are kept of one program. */
#define RECORDED_TASKS_MAX 64u

/* A recording in memory that the recording process shares with its parent. */
struct recorded {
	struct explore_recording summary;
	/* Registers of the CPU in kernel mode, for record_kernel(). rip 0: none. */
	struct x86_regs kernel;
	int32_t first_pid; /* process ID of the process that waited at the mark; -1: unknown */
	/* GVAs of the task_structs of the tasks that were started after that process: the first RECORDED_TASKS_MAX of them. */
	uint64_t task[RECORDED_TASKS_MAX];
	uint32_t tasks;
	uint32_t count;
	struct explore_access access[EXPLORE_ACCESSES_MAX];
};

/*
 * Let the program of `side` run alone in a copy of the base, in a process of its own, and record its accesses. Kernel code of
 * its CPU is single-stepped from the entry of a system call on, and in calls of the functions of base->also[side]; all other
 * code runs at full speed. The recording leaves out accesses to user memory, to the stack of the running task, and relative to
 * GS, where the CPU's own data is. It also leaves out all accesses of the idle task. Returns the recording, which the caller
 * frees by recorded_free(), or NULL with `err` set.
 */
struct recorded *record_side(const struct base *base, const struct explore_config *config, const struct kernel *kernel,
			     unsigned side, struct err *err);

/*
 * Do what record_side() does, but for the baseline program. Side 0 runs this program in place of its command: a short shell
 * script, which starts and ends processes as nearly every program does.
 */
struct recorded *record_baseline(const struct base *base, const struct explore_config *config, const struct kernel *kernel,
				 struct err *err);

/*
 * Do what record_side() does, but while the other side is held after its access after->access or, if after->release has
 * releases, after the last of these (drive_through()). If the other side does not come to this place, the recording is empty.
 * The recording also ends when `side` has made no step for base->part_ns, because `side` then most likely waits for the other
 * side.
 */
struct recorded *record_after(const struct base *base, const struct explore_config *config, const struct kernel *kernel,
			      unsigned side, const struct explore_side *after, struct err *err);

/*
 * Let program A make its first system call in a copy, and store in *regs the registers that its CPU then has in kernel mode.
 * kernel_open() needs them to find the kernel. Returns 0, or -1 with `err` set.
 */
int record_kernel(const struct base *base, const struct explore_config *config, struct x86_regs *regs, struct err *err);
void recorded_free(struct recorded *r);

#endif

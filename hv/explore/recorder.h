/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording while it is made: record.c steps the program's CPU, recorder_task.c decides which tasks count, and
 * recorder_access.c which accesses count.
 */
#ifndef OUTRIDER_EXPLORE_RECORDER_H
#define OUTRIDER_EXPLORE_RECORDER_H

#include "hv/explore/calls.h"
#include "hv/explore/code.h"
#include "hv/explore/drive.h"
#include "hv/explore/pages.h"

struct recorded; /* hv/explore/record.h */

struct recorder {
	const struct base *base;
	const struct explore_config *config;
	const struct kernel *kernel; /* NULL: unknown */
	struct drive drive;
	struct vm_time stopped; /* the end of the last run at full speed */
	struct recorded *out;
	unsigned side;
	/* the other side is held after its access in `after`; NULL: the other side waits at the mark */
	const struct explore_side *after;
	uint64_t moved_ns, moved_steps; /* when the number of steps has last grown, and to what */
	bool baseline;			/* the side runs the baseline program */
	struct code code;
	uint64_t entry; /* of system calls */
	uint64_t start, last_pc;
	struct calls calls; /* of the task that is stepped */
	struct pages pages; /* that the program has accessed since its last system call began */
	uint64_t stack;	    /* start of the stack of the task that was stepped last; 0: none */
	int32_t first_pid;  /* PID of the process that waits at the mark; -1: unknown */
	uint64_t running;   /* GVA of the task_struct of the task that __switch_to() was last seen to switch to; 0: none */
	bool own;	    /* the task that was stepped last belongs to the program */
	/* RSP at the start of the call of a function of base->also that is being stepped; 0: no such call */
	uint64_t call;
	/* A task that sleeps in such a call: the GVA of its task_struct, and `call` as above. task 0: no task sleeps in one. */
	struct {
		uint64_t task, call;
	} asleep;
};

/* ---- accesses ---- */

/* Record the accesses that the instruction is about to make to memory that another CPU could access, too. */
void recorder_add(struct recorder *r, const struct insn *insn, const struct x86_regs *regs);

/* ---- tasks ---- */

/*
 * Find out which task runs. To be called when RSP has come to another stack. If that is the stack of user code, at the entry of
 * a system call, the task is not known yet, and r->own does not change. Between a switch of stacks and the end of
 * __switch_to(), the kernel's own record of the current task is out of date; there recorder_sees_switch() finds the task.
 */
void recorder_sees_stack(struct recorder *r, const struct x86_regs *regs);

/* Returns whether the CPU is at __switch_to(). */
bool recorder_at_switch(const struct recorder *r, const struct x86_regs *regs);

/*
 * To be called when the CPU is at __switch_to(). Sets r->own to whether the next task, to whose stack RSP points already, is to
 * be stepped. A task is to be stepped if it belongs to the program and continues in a system call, or if it continues in a call
 * of a function of base->also.
 */
void recorder_sees_switch(struct recorder *r, const struct x86_regs *regs);

/* Returns whether `number` is the number of the system call exit(2) or exit_group(2). */
bool recorder_exits(uint64_t number);

#endif

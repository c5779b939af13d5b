/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares what the system calls of both programs return in a trial with what they return in the serial orders of the programs.
 * Results that neither order gives show that whole calls have come in another order, or that two calls have mixed. Mixed calls
 * are not linearisable (Herlihy and Wing, TOPLAS 1990).
 */
#ifndef OUTRIDER_EXPLORE_RETURNS_H
#define OUTRIDER_EXPLORE_RETURNS_H

#include "hv/explore/facts.h"
#include "hv/explore/kernel.h"

/* Maximum number of system calls of each program whose results are compared: its first calls. */
#define RETURNS_MAX 256

/* The results of one program's system calls, in their order. */
struct returned {
	uint32_t count;
	struct returned_call {
		int32_t pid;	/* of the process that made the call */
		int32_t number; /* of the system call, as in SYS_write */
		int64_t value;	/* the result; negative: an error number; a process ID, an address or a time is stored as 0 */
	} call[RETURNS_MAX];
};

/* Where system calls end, and which processes belong to which side. */
struct returns_site {
	uint64_t pc; /* the instruction after the call of do_syscall_64(), where RSP points to struct pt_regs; 0: unknown */
	int32_t first_pid[2]; /* process ID of the process of each side that waits at the mark */
	const struct guest *guest;
};

struct returns {
	struct returns_site site;
	bool added[2];		      /* the serial order was run */
	struct returned serial[2][2]; /* after each serial order, of each side */
	bool unsettled[2];	      /* two runs of one serial order gave this side different results */
};

/*
 * Find the end of system calls in the code of the kernel. Leaves site.pc 0 if it is not found, or a process ID is negative.
 * `kernel` must outlive `site`.
 */
void returns_find(struct returns_site *site, const struct kernel *kernel, const int32_t first_pid[2]);

/*
 * Add the result of the system call that ends on the CPU of `side`, which is at site->pc with the registers `regs`, to `out`.
 * Does nothing for a task that is older than the side's first process, and if the CPU did not make a system call. Reads a few
 * words of memory of the copy that this process runs. May be called on several threads at once, with different `out`.
 */
void returns_add(const struct returns_site *site, unsigned side, const struct x86_regs *regs, struct returned *out);

/*
 * Put the calls of each process together, those of older processes first, because the processes of a program may run in any
 * order. To be called before the results are compared.
 */
void returns_sort(struct returned *of);

/* Add the results of both sides in a run of serial order `order`, 0 or 1. */
void returns_add_serial(struct returns *r, unsigned order, const struct returned of[2]);

/*
 * Returns whether the results of both sides are the same in the runs `a` and `b`. A side is ignored if its results differed
 * between two runs of a serial order, or if it has made RETURNS_MAX calls, because chance then decides which of its processes
 * made the last of these calls.
 */
bool returns_are_same(const struct returns *r, const struct returned a[2], const struct returned b[2]);

/*
 * Returns whether neither serial order gives these results of both sides. To be called after returns_add_serial() was called
 * for both orders.
 */
bool returns_differ(const struct returns *r, const struct returned of[2]);

/*
 * For each side, store in out[side] the call that tells most:
 *  - If the side has the results of one serial order only, this is the first call whose result differs from the other order.
 *  - If the side has the results of neither order, this is the first call by which the results differ from both orders.
 *  - If the side has the results of both orders, or its results are not compared, out[side].call is 0.
 */
void returns_describe(const struct returns *r, const struct returned of[2], struct explore_return out[2]);

#endif

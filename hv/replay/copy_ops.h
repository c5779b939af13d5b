/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A copy of the machine as those who run an order see it: CPUs that make one instruction at a time, each only when it is told
 * to. A CPU that is not told to stands. No CPU takes an interrupt.
 */
#ifndef OUTRIDER_REPLAY_COPY_OPS_H
#define OUTRIDER_REPLAY_COPY_OPS_H

#include "hv/base/x86.h"

/* How a step ended. */
enum copy_step {
	/* The CPU has made one instruction, or one round of a string instruction. A fault and its handler are one step. */
	COPY_STEPPED,
	/* The CPU waits for an interrupt, and none will come. */
	COPY_HALTED,
	/* The step did not end: the CPU runs elsewhere, as after an oops. */
	COPY_LOST,
	/* The machine has ended: a triple fault, a panic, or an error of KVM's. */
	COPY_ENDED,
	/* Our side failed. */
	COPY_FAILED,
};

struct copy_ops {
	/* Let the CPU make one step. `regs` become its general registers, RIP and RFLAGS behind it, whatever came of it. */
	enum copy_step (*step)(void *ctx, unsigned cpu, struct x86_regs *regs);
	/* Get the CPU's general registers, RIP and RFLAGS. */
	void (*regs)(void *ctx, unsigned cpu, struct x86_regs *regs);
	/* The first argument of both. */
	void *ctx;
};

#endif

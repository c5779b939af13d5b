/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface by which an order runs a copy of the machine: each CPU executes one instruction at a time, only on request, and
 * takes no interrupt.
 */
#ifndef OUTRIDER_REPLAY_COPY_OPS_H
#define OUTRIDER_REPLAY_COPY_OPS_H

#include "hv/base/x86.h"

/* How a step ended. */
enum copy_step {
	/* The CPU executed one instruction, or one iteration of a string instruction. A fault and its handler are one step. */
	COPY_STEPPED,
	/* The CPU waits for an interrupt, but interrupts are blocked. */
	COPY_HALTED,
	/*
	 * The step did not end in time: the CPU left the instruction, and executes other code, for example the code that
	 * handles an oops.
	 */
	COPY_LOST,
	/* The machine has ended: by a triple fault, a panic, or an error of KVM. */
	COPY_ENDED,
	/* An error of the VMM or of this code. */
	COPY_FAILED,
};

struct copy_ops {
	/*
	 * Let the CPU make one step. The caller passes in *regs the CPU's general registers, RIP and RFLAGS before the step.
	 * *regs then has these registers after the step, whatever step() returns.
	 */
	enum copy_step (*step)(void *ctx, unsigned cpu, struct x86_regs *regs);
	/* Get the CPU's general registers, RIP and RFLAGS. */
	void (*regs)(void *ctx, unsigned cpu, struct x86_regs *regs);
	/* The first argument of step() and regs(). */
	void *ctx;
};

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows the function calls that a task makes while the task is single-stepped. */
#ifndef OUTRIDER_EXPLORE_CALLS_H
#define OUTRIDER_EXPLORE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/explore/kernel.h"
#include "symbols/insn/insn.h"

/* Maximum number of calls that are kept. If there are more, the oldest call is forgotten. */
#define CALLS_MAX 64u

/* A call that has not returned. */
struct call {
	uint64_t rsp; /* at the start of the function: the GVA of the return address */
	uint64_t to;  /* the return address */
};

/* All zero at first. */
struct calls {
	/* RSP before the last instruction, and the address after that instruction; last_end 0: unknown */
	uint64_t last_rsp, last_end;
	uint64_t service; /* RSP at the start of the call of a KERNEL_SERVICE function that has not returned; 0: none */
	struct call call[CALLS_MAX];
	unsigned count;
};

/* Forget all: another task runs. */
void calls_forget(struct calls *c);

/*
 * Handle a switch of tasks: the CPU is at __switch_to(), and RSP already points to the stack of the next task. Forgets all
 * calls. Remembers that the next task is in a call of __schedule(), to which __switch_to() returns: __schedule() is a
 * KERNEL_SERVICE function.
 */
void calls_switch(struct calls *c, const struct x86_regs *regs);

/* To be called when the CPU has executed instructions without calls_follow(). */
void calls_skip(struct calls *c);

/* To be called before each instruction. `facts` are the enum kernel_code_fact bits of the instruction. */
void calls_follow(struct calls *c, const struct insn *insn, const struct x86_regs *regs, unsigned facts);

/* Returns whether the instruction of the last calls_follow() is in a call of a KERNEL_SERVICE function. */
static inline bool calls_in_service(const struct calls *c)
{
	return c->service != 0;
}

/* Returns the return address of the call by which other code has called a library; 0: not seen. See explore_access.caller. */
uint64_t calls_of_library(const struct calls *c, const struct kernel *kernel);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's code as a recording needs it: decoded instructions, and how far a step may go. Used in the process of a copy. */
#ifndef OUTRIDER_EXPLORE_CODE_H
#define OUTRIDER_EXPLORE_CODE_H

#include "hv/explore/drive.h"
#include "hv/explore/kernel.h"

struct code {
	struct drive *drive;
	unsigned side;		     /* the CPU whose page tables are used */
	const struct kernel *kernel; /* NULL: unknown */
	/*
	 * GVA of __switch_to(prev, next), which the kernel calls at every switch between tasks; 0: unknown. May be set after
	 * code_open().
	 */
	uint64_t switch_to;
	struct insn *cache; /* addr 0: empty */
	uint8_t *facts;	    /* of each element of the cache: enum kernel_code_fact bits */
};

/* Make the cache. `drive` may be opened later. Returns 0, or -1 with `err` set; code_close() may follow in both cases. */
int code_open(struct code *c, struct drive *drive, unsigned side, const struct kernel *kernel, struct err *err);
void code_close(struct code *c);

/* Returns the instruction at `pc`, which is valid until the next call, or NULL if it cannot be decoded. */
const struct insn *code_at(struct code *c, uint64_t pc);

/* Returns the enum kernel_code_fact bits of the instruction that the last call of code_at() has returned. */
unsigned code_facts(const struct code *c, const struct insn *insn);

/* Returns whether the instruction is SYSRETQ, which leaves the kernel (SDM vol. 2). */
bool code_is_sysret(const struct insn *insn);

/* Returns whether the instruction is IRETQ, which returns from an interrupt to user code or to the kernel (SDM vol. 2). */
bool code_is_iret(const struct insn *insn);

/* Returns whether the instruction may access memory that another CPU could access, too. */
bool code_accesses(const struct insn *insn);

/* Returns whether the instruction, executed with these registers, accesses memory of the user. */
bool code_accesses_user(const struct insn *insn, const struct x86_regs *regs);

/*
 * Returns the number of instructions, from `insn` on, that the CPU can execute before the recording has to look at the CPU
 * again, and sets *end to the address where this stride (stride.h) ends; or returns 0 if `insn` has to be single-stepped.
 * `regs` are the registers before `insn`. `insn` must be the caller's copy, because this function calls code_at().
 */
unsigned code_stride(struct code *c, const struct insn *insn, const struct x86_regs *regs, uint64_t *end);

#endif

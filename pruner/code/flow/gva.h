/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest-virtual addresses (GVA) that a function's instructions access. They follow from the registers that were recorded
 * at one of the function's accesses.
 */
#ifndef OUTRIDER_PRUNER_CODE_FLOW_GVA_H
#define OUTRIDER_PRUNER_CODE_FLOW_GVA_H

#include "pruner/code/flow/flow.h"

/* A recorded access. Its registers are known, and so is its address. */
struct flow_access {
	const struct flow *flow;
	unsigned at; /* The index of the accessing instruction. */
	/*
	 * The registers at the access. For a held side they are from before the access; for a side that a watchpoint caught
	 * they are from after the access (SDM vol. 3, 17.2.4). So flow_gva() does not use registers that the accessing
	 * instruction writes.
	 */
	const struct x86_regs *regs;
	uint64_t gva; /* The GVA of the access. */
};

/*
 * Returns the GVA that instruction `i` of the same function accesses, or 0 if that is not known. The GVA is known if the
 * instruction has exactly one memory operand, without an index register, and the recorded access gives the value of the
 * operand's base: in a register or by its own GVA.
 */
uint64_t flow_gva(const struct flow_access *a, unsigned i);

#endif

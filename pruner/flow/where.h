/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where in memory a function's instructions access, as far as the registers at one of its accesses tell. */
#ifndef OUTRIDER_PRUNER_FLOW_WHERE_H
#define OUTRIDER_PRUNER_FLOW_WHERE_H

#include "pruner/flow/flow.h"

/* An access whose address is known, since the CPU's registers at the access are. */
struct flow_access {
	const struct flow *flow;
	unsigned at; /* The index of the accessing instruction. */
	/* The registers before the access or after it. A register that the access writes is not looked at. */
	const struct x86_regs *regs;
	uint64_t gva; /* Of the access. */
};

/*
 * Returns the GVA of what instruction `i` of the same function accesses. Returns 0 when that is not known: the instruction has
 * not exactly one memory operand, or that operand has an index, or its base register holds a value that no register held at the
 * access.
 */
uint64_t flow_gva(const struct flow_access *a, unsigned i);

#endif

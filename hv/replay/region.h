/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides when one side's region ends. A region is the code that a side executes from its access on, and whose effects are
 * compared. The functions have no side effects.
 */
#ifndef OUTRIDER_REPLAY_REGION_H
#define OUTRIDER_REPLAY_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/x86.h"
#include "hv/race/replay.h"

/* The conditions that end a region. */
struct region_limits {
	/*
	 * The return address of the access's function, and RSP after its return. Both are 0 when unknown: then only `sleep` and
	 * `instructions` can end the region.
	 */
	uint64_t return_address, cfa;
	/* GVA of the function that puts a task to sleep. 0: unknown. */
	uint64_t sleep;
	/* Maximum number of instructions of the region, at least 1. */
	uint64_t instructions;
};

struct region {
	struct region_limits limits;
	enum replay_end end; /* REPLAY_END_NOT_RUN until the region is at its end */
	uint64_t instructions;
};

void region_begin(struct region *r, const struct region_limits *limits);

/* The side has executed an instruction, after which its registers are *regs. Returns whether the region is at its end. */
bool region_step(struct region *r, const struct x86_regs *regs);

/* Whether the region is at its end. */
static inline bool region_over(const struct region *r)
{
	return r->end != REPLAY_END_NOT_RUN;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the region of one side ends: what the side runs behind its access, and whose effects are compared. Pure functions. */
#ifndef OUTRIDER_REPLAY_REGION_H
#define OUTRIDER_REPLAY_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/x86.h"
#include "hv/race/replay.h"

/* What ends a region. */
struct region_limits {
	/*
	 * Where the function of the access returns to, and RSP when it has. Both are 0 when they are not known: then the region
	 * ends by the other two only.
	 */
	uint64_t return_address, cfa;
	/* GVA of the function by which a task goes to sleep. 0: not known. */
	uint64_t sleep;
	/* How many instructions the region has at most, at least 1. */
	uint64_t instructions;
};

struct region {
	struct region_limits limits;
	enum replay_end end; /* REPLAY_END_NOT_RUN until the region is at its end */
	uint64_t instructions;
};

void region_begin(struct region *r, const struct region_limits *limits);

/* The side has made an instruction, after which its registers are these. Returns whether the region is at its end. */
bool region_step(struct region *r, const struct x86_regs *regs);

/* Whether the region is at its end. */
static inline bool region_over(const struct region *r)
{
	return r->end != REPLAY_END_NOT_RUN;
}

#endif

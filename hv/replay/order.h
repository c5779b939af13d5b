/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One order of two accesses: the first side makes its access alone, then the other side makes its own, and then both go on by a
 * fixed alternation until their regions are at their ends. The alternation counts instructions and nothing else, so that the
 * same order of the same machine is the same run. A side that spins for the other one gets nowhere for a few turns, in which
 * the other one goes on.
 */
#ifndef OUTRIDER_REPLAY_ORDER_H
#define OUTRIDER_REPLAY_ORDER_H

#include "hv/base/x86.h"
#include "hv/race/replay.h"
#include "hv/replay/copy_ops.h"
#include "hv/replay/region.h"

/* Instructions of one side's turn. It is a prime, so that a loop of the guest does not fall into step with the turns. */
#define ORDER_TURN 61

struct order_side {
	unsigned cpu;
	/* GVA of the instruction of the access. The CPU stands before it. */
	uint64_t pc;
	struct region_limits limits;
};

struct order {
	struct order_side sides[2];
	/* The side whose access comes first, 0 or 1. */
	unsigned first;
};

/* How an order went. */
struct order_run {
	struct region regions[2];
	/* The registers of each side when its region was at its end, or when the order failed. */
	struct x86_regs regs[2];
	/* REPLAY_NO_FAILURE: both regions are at their ends. */
	enum replay_failure failure;
	/* What failed, for people. NULL when nothing did. */
	const char *why;
};

/* Run an order on a copy that stands before both accesses. */
void order_run(const struct order *order, const struct copy_ops *ops, struct order_run *run);

#endif

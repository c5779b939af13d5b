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

enum order_phase {
	ORDER_FIRST,  /* The first side makes its access, alone. */
	ORDER_SECOND, /* The other side makes its own. */
	ORDER_TURNS,  /* Both go on in turns. */
};

/* An order that is being run. What it points to is the caller's, and has to last as long as the order runs. */
struct ordering {
	const struct order *order;
	const struct copy_ops *ops;
	struct order_run *run;
	enum order_phase phase;
	/* The side that makes the next step, 0 or 1, unless the order is over. */
	unsigned side;
	/* How many steps the side has made since the other one's last step. */
	unsigned steps;
};

/* Begin an order on a copy that stands before both accesses. */
void order_begin(struct ordering *o, const struct order *order, const struct copy_ops *ops, struct order_run *run);

/* Whether both regions are at their ends, or the order has failed. */
bool order_over(const struct ordering *o);

/* Let the side whose turn it is make one step. The order is not over. */
void order_step(struct ordering *o);

/*
 * Let a side make one step out of its turn, as somebody at a debugger may want it. The order is not over, and the region of the
 * side is not at its end. The turns go on as if the step had not been made.
 */
void order_step_out_of_turn(struct ordering *o, unsigned side);

/* Run an order on a copy that stands before both accesses, until it is over. */
void order_run(const struct order *order, const struct copy_ops *ops, struct order_run *run);

#endif

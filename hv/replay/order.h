/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One order of two accesses: the first side runs alone until it has made its access, then the second side runs alone until it
 * has made its access, and then both sides run in turns of fixed length until their regions are at their ends. Turns are
 * counted in instructions only, so the same order of the same machine is always the same run. A side that spins until the other
 * side acts wastes its turns, and the other side makes progress in its own turns.
 *
 * In an order without turns, the first side runs alone to the end of its region, and then the second side.
 */
#ifndef OUTRIDER_REPLAY_ORDER_H
#define OUTRIDER_REPLAY_ORDER_H

#include "hv/base/x86.h"
#include "hv/race/replay.h"
#include "hv/replay/copy_ops.h"
#include "hv/replay/region.h"

/* Instructions in one side's turn. A prime, so that a loop of the guest does not fall into step with the turns. */
#define ORDER_TURN 61

struct order_side {
	unsigned cpu;
	/* GVA of the accessing instruction, before which the CPU was stopped. */
	uint64_t pc;
	struct region_limits limits;
};

struct order {
	struct order_side sides[2];
	/* The side whose access comes first, 0 or 1. */
	unsigned first;
	/* The first side runs alone to the end of its region, and then the other side: there are no turns. */
	bool alone;
	/* Instructions in one side's turn. 0: ORDER_TURN. */
	uint32_t turn;
};

/* The result of an order. */
struct order_run {
	struct region regions[2];
	/* The registers of each side at the end of its region, or when the order failed. */
	struct x86_regs regs[2];
	/* REPLAY_NO_FAILURE: both regions are at their ends. */
	enum replay_failure failure;
	/* The failure as text for the user. NULL: no failure. */
	const char *why;
};

enum order_phase {
	ORDER_FIRST,  /* the first side runs alone until it has made its access, or to the end of its region */
	ORDER_SECOND, /* the same for the other side */
	ORDER_TURNS,  /* both run in turns */
};

/* An order in progress. The caller owns the objects that this struct points to, which must last as long as the order. */
struct ordering {
	const struct order *order;
	const struct copy_ops *ops;
	struct order_run *run;
	enum order_phase phase;
	/* The side that makes the next step, 0 or 1; undefined when the order is over. */
	unsigned side;
	/* Number of steps that the side `side` has made since the other side's last step. */
	unsigned steps;
};

/* Begin an order, on a copy in which both sides are before their accesses. */
void order_begin(struct ordering *o, const struct order *order, const struct copy_ops *ops, struct order_run *run);

/* Returns whether both regions are at their ends, or the order has failed. */
bool order_over(const struct ordering *o);

/* Make one step of the side o->side. The order must not be over. */
void order_step(struct ordering *o);

/*
 * Let a side make one step out of turn, for a debugger. Neither the order nor the side's region may be over. The turns continue
 * as if the step had not been made.
 */
void order_step_out_of_turn(struct ordering *o, unsigned side);

/* Run an order to its end, on a copy in which both sides are before their accesses. */
void order_run(const struct order *order, const struct copy_ops *ops, struct order_run *run);

#endif

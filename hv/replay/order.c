// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs one order of two accesses: lets each side make its access, then steps both sides in turns to the ends of their regions.
 */
#include "hv/replay/order.h"

#include <stddef.h>

static bool fail(struct order_run *run, unsigned side, enum replay_failure failure, const char *why)
{
	if (failure == REPLAY_FAULT)
		run->regions[side].end = REPLAY_END_FAULT;
	run->failure = failure;
	run->why = why;
	return false;
}

/* Let a side make one step. Returns false when the order has failed. */
static bool step(const struct ordering *o, unsigned side)
{
	struct order_run *run = o->run;
	struct region *region = &run->regions[side];
	enum copy_step step = o->ops->step(o->ops->ctx, o->order->sides[side].cpu, &run->regs[side]);

	switch (step) {
	case COPY_STEPPED:
		region_step(region, &run->regs[side]);
		return true;
	case COPY_HALTED:
		/* An idle CPU is at the end of its region: its next interrupt does not belong to the region. */
		region->instructions++;
		region->end = REPLAY_END_BLOCKED;
		return true;
	case COPY_LOST:
		return fail(run, side, REPLAY_FAULT,
			    "one instruction did not end: its CPU executes other code, for example the kernel's oops handler");
	case COPY_ENDED:
		return fail(run, side, REPLAY_FAULT, "the machine ended before both sides were at the ends of their regions");
	case COPY_FAILED:
		break;
	}
	return fail(run, side, REPLAY_CANNOT_LOAD, "the copy of the machine failed");
}

void order_begin(struct ordering *o, const struct order *order, const struct copy_ops *ops, struct order_run *run)
{
	*o = (struct ordering){.order = order, .ops = ops, .run = run, .phase = ORDER_FIRST, .side = order->first};
	*run = (struct order_run){.failure = REPLAY_NO_FAILURE};
	for (unsigned i = 0; i < 2; i++) {
		region_begin(&run->regions[i], &order->sides[i].limits);
		ops->regs(ops->ctx, order->sides[i].cpu, &run->regs[i]);
	}
}

bool order_over(const struct ordering *o)
{
	const struct order_run *run = o->run;

	return run->failure != REPLAY_NO_FAILURE ||
	       (o->phase == ORDER_TURNS && region_over(&run->regions[0]) && region_over(&run->regions[1]));
}

/*
 * Returns whether the side o->side has run alone for long enough. The side runs to the end of its region or, in an order with
 * turns, only until it has made its access. The access is made once RIP has left the instruction: a string instruction takes
 * one step for each iteration, and RIP changes only after the last one.
 */
static bool ran_alone(const struct ordering *o)
{
	if (region_over(&o->run->regions[o->side]) || o->order->alone)
		return region_over(&o->run->regions[o->side]);
	return o->run->regs[o->side].rip != o->order->sides[o->side].pc;
}

static void pass_on(struct ordering *o)
{
	o->side = !o->side;
	o->steps = 0;
}

/* Select the side for the next step. A side whose region is at its end has no more turns. */
static void find_turn(struct ordering *o)
{
	if (o->phase == ORDER_TURNS && o->steps >= (o->order->turn ? o->order->turn : ORDER_TURN))
		pass_on(o);
	/* A step out of turn may have made the second access already. */
	while (o->phase != ORDER_TURNS && ran_alone(o)) {
		o->phase++;
		pass_on(o);
	}
	if (o->phase == ORDER_TURNS && region_over(&o->run->regions[o->side]))
		pass_on(o);
}

void order_step(struct ordering *o)
{
	o->steps++;
	if (step(o, o->side))
		find_turn(o);
}

void order_step_out_of_turn(struct ordering *o, unsigned side)
{
	if (step(o, side))
		find_turn(o);
}

void order_run(const struct order *order, const struct copy_ops *ops, struct order_run *run)
{
	struct ordering o;

	order_begin(&o, order, ops, run);
	while (!order_over(&o))
		order_step(&o);
}

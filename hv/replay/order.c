// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/replay/order.h"

#include <stddef.h>

struct running {
	const struct order *order;
	const struct copy_ops *ops;
	struct order_run *run;
};

static bool fail(struct running *r, unsigned side, enum replay_failure failure, const char *why)
{
	if (failure == REPLAY_FAULT)
		r->run->regions[side].end = REPLAY_END_FAULT;
	r->run->failure = failure;
	r->run->why = why;
	return false;
}

/* Let a side make one step. Returns false when the order has failed. */
static bool step(struct running *r, unsigned side)
{
	struct order_run *run = r->run;
	struct region *region = &run->regions[side];
	enum copy_step step = r->ops->step(r->ops->ctx, r->order->sides[side].cpu, &run->regs[side]);

	switch (step) {
	case COPY_STEPPED:
		region_step(region, &run->regs[side]);
		return true;
	case COPY_HALTED:
		/* An idle CPU has nothing more to do in its region: its next interrupt is another one's. */
		region->instructions++;
		region->end = REPLAY_END_BLOCKED;
		return true;
	case COPY_LOST:
		return fail(r, side, REPLAY_FAULT, "an instruction of the region did not end: its CPU runs elsewhere");
	case COPY_ENDED:
		return fail(r, side, REPLAY_FAULT, "the machine ended inside of the region");
	case COPY_FAILED:
		break;
	}
	return fail(r, side, REPLAY_CANNOT_LOAD, "the copy of the machine failed");
}

/* Let a side make its access, alone. A string instruction takes a step for each of its rounds. */
static bool make_access(struct running *r, unsigned side)
{
	const struct region *region = &r->run->regions[side];

	do {
		if (!step(r, side))
			return false;
	} while (!region_over(region) && r->run->regs[side].rip == r->order->sides[side].pc);
	return true;
}

static bool take_turn(struct running *r, unsigned side)
{
	const struct region *region = &r->run->regions[side];

	for (unsigned i = 0; i < ORDER_TURN && !region_over(region); i++)
		if (!step(r, side))
			return false;
	return true;
}

void order_run(const struct order *order, const struct copy_ops *ops, struct order_run *run)
{
	struct running r = {order, ops, run};
	unsigned side = order->first;

	*run = (struct order_run){.failure = REPLAY_NO_FAILURE};
	for (unsigned i = 0; i < 2; i++) {
		region_begin(&run->regions[i], &order->sides[i].limits);
		ops->regs(ops->ctx, order->sides[i].cpu, &run->regs[i]);
	}
	if (!make_access(&r, side) || !make_access(&r, !side))
		return;
	for (; !region_over(&run->regions[0]) || !region_over(&run->regions[1]); side = !side)
		if (!take_turn(&r, side))
			return;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Group "irq": a task against an hrtimer's handler, which runs in hardirq. */
#include "gt.h"

/*
 * A task subtracts work from a queue length in two instructions, and an interrupt in between adds some: the update of the
 * interrupt is lost. The same on one CPU and on two.
 */
struct gt_backlog {
	u32 pending;
};

static __always_inline void gt_take(struct gt_backlog *q)
{
	u32 pending = q->pending;

	gt_use(pending); /* a load, then a store: one instruction would be atomic against an interrupt of its own CPU */
	q->pending = pending - 1;
}

static struct gt_backlog gt_irqsame_queue gt_datum;

static gt_fn void gt_irqsame_task(u64 round)
{
	gt_take(&gt_irqsame_queue);
}

static gt_fn void gt_irqsame_timer(u64 round)
{
	gt_irqsame_queue.pending++;
}

const struct gt_case gt_case_irqsame = {
	.name = "irqsame",
	.group = "irq",
	.side = {{"task", gt_irqsame_task, 0}, {"timer", gt_irqsame_timer, 0, GT_TIMER}},
};

static struct gt_backlog gt_irqcross_queue gt_datum;

static gt_fn void gt_irqcross_task(u64 round)
{
	gt_take(&gt_irqcross_queue);
}

static gt_fn void gt_irqcross_timer(u64 round)
{
	gt_irqcross_queue.pending++;
}

const struct gt_case gt_case_irqcross = {
	.name = "irqcross",
	.group = "irq",
	.side = {{"task", gt_irqcross_task, 0}, {"timer", gt_irqcross_timer, 1, GT_TIMER}},
};

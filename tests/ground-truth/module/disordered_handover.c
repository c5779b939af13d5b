// SPDX-License-Identifier: GPL-2.0-or-later
/* Group "disordered": a ring with two producers, a flag that is set too early, and a pointer given too early. */
#include <linux/slab.h>

#include "gt.h"

/* Two producers of a ring that was made for one: both may take one slot, and each may overwrite the head of the other one. */
#define GT_TWOHEADS_SLOTS 16u
static struct {
	unsigned long head ____cacheline_aligned;
	u64 slot[GT_TWOHEADS_SLOTS] ____cacheline_aligned;
} gt_twoheads gt_datum;

static gt_fn void gt_twoheads_first(u64 round)
{
	unsigned long head = READ_ONCE(gt_twoheads.head);

	gt_twoheads.slot[head] = round;
	smp_store_release(&gt_twoheads.head, (head + 1) & (GT_TWOHEADS_SLOTS - 1));
}

static gt_fn void gt_twoheads_second(u64 round)
{
	unsigned long head = READ_ONCE(gt_twoheads.head);

	gt_twoheads.slot[head] = ~round;
	smp_store_release(&gt_twoheads.head, (head + 1) & (GT_TWOHEADS_SLOTS - 1));
}

const struct gt_case gt_case_twoheads = {
	.name = "twoheads",
	.group = "disordered",
	.side = {{"first", gt_twoheads_first, 0}, {"second", gt_twoheads_second, 1}},
};

/* The producer sets the flag before it has stored all data, so the consumer may load half of the data. */
static struct {
	u32 ready;
	u64 value;
} gt_flagfirst gt_datum;

static gt_fn void gt_flagfirst_giver(u64 round)
{
	if (smp_load_acquire(&gt_flagfirst.ready))
		return;
	smp_store_release(&gt_flagfirst.ready, 1);
	gt_flagfirst.value = round;
}

static gt_fn u64 gt_flagfirst_taker(void)
{
	u64 value;

	if (!smp_load_acquire(&gt_flagfirst.ready))
		return 0;
	value = gt_flagfirst.value;
	smp_store_release(&gt_flagfirst.ready, 0);
	return value;
}

static void gt_flagfirst_taker_step(u64 round)
{
	gt_use(gt_flagfirst_taker());
}

const struct gt_case gt_case_flagfirst = {
	.name = "flagfirst",
	.group = "disordered",
	.side = {{"giver", gt_flagfirst_giver, 0}, {"taker", gt_flagfirst_taker_step, 1}},
};

/* The writer publishes the object before it fills it. The object is always the same one, so that the kernel survives. */
struct gt_ptrearly {
	struct gt_ptrearly *box;
	u64 a;
};
static struct gt_ptrearly *gt_ptrearly_object;

static int gt_ptrearly_setup(void)
{
	gt_ptrearly_object = kzalloc(sizeof(*gt_ptrearly_object), GFP_KERNEL);
	return gt_ptrearly_object ? 0 : -ENOMEM;
}

static void gt_ptrearly_teardown(void)
{
	kfree(gt_ptrearly_object);
	gt_ptrearly_object = NULL;
}

static gt_fn void gt_ptrearly_giver(struct gt_ptrearly *object, u64 round)
{
	if (smp_load_acquire(&object->box))
		return;
	smp_store_release(&object->box, object);
	object->a = round;
}

static gt_fn u64 gt_ptrearly_taker(struct gt_ptrearly *at)
{
	struct gt_ptrearly *object = smp_load_acquire(&at->box);
	u64 a;

	if (!object)
		return 0;
	a = object->a;
	smp_store_release(&at->box, NULL);
	return a;
}

static void gt_ptrearly_giver_step(u64 round)
{
	gt_ptrearly_giver(gt_ptrearly_object, round);
}

static void gt_ptrearly_taker_step(u64 round)
{
	gt_use(gt_ptrearly_taker(gt_ptrearly_object));
}

const struct gt_case gt_case_ptrearly = {
	.name = "ptrearly",
	.group = "disordered",
	.side = {{"giver", gt_ptrearly_giver_step, 0}, {"taker", gt_ptrearly_taker_step, 1}},
	.setup = gt_ptrearly_setup,
	.teardown = gt_ptrearly_teardown,
};

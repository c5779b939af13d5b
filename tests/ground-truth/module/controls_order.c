// SPDX-License-Identifier: GPL-2.0-or-later
/* Group "controls": no lock, and still never two conflicting accesses at a time. */
#include <linux/completion.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "gt.h"

/*
 * RCU: a reader sees an object only after its writer is done with the fields, and the object is reused only after its last
 * reader left. The pointer itself is loaded and stored plainly, as far as machine code shows, so that pair has functions of its
 * own and is allowed in the manifest.
 */
struct gt_rcu {
	u64 a, b;
	struct rcu_head head;
};
static struct gt_rcu __rcu *gt_rcu_pointer;

static gt_fn struct gt_rcu *gt_rcu_publish(struct gt_rcu *fresh)
{
	struct gt_rcu *old = rcu_dereference_protected(gt_rcu_pointer, true);

	rcu_assign_pointer(gt_rcu_pointer, fresh);
	return old;
}

static gt_fn struct gt_rcu *gt_rcu_fetch(void)
{
	return rcu_dereference(gt_rcu_pointer);
}

static gt_fn void gt_rcu_writer(struct gt_rcu *object, u64 round)
{
	object->a = round;
	object->b = ~round;
}

static gt_fn void gt_rcu_reader(struct gt_rcu *object)
{
	gt_use(object->a);
	gt_use(object->b);
}

static void gt_rcu_writer_step(u64 round)
{
	struct gt_rcu *object = kmalloc(sizeof(*object), GFP_KERNEL);

	if (!object)
		return;
	gt_rcu_writer(object, round);
	object = gt_rcu_publish(object);
	if (object)
		kfree_rcu(object, head);
}

static void gt_rcu_reader_step(u64 round)
{
	struct gt_rcu *object;

	rcu_read_lock();
	object = gt_rcu_fetch();
	if (object)
		gt_rcu_reader(object);
	rcu_read_unlock();
}

static void gt_rcu_teardown(void)
{
	kfree(gt_rcu_publish(NULL));
}

const struct gt_case gt_case_rcu = {
	.name = "rcu",
	.group = "controls",
	.side = {{"writer", gt_rcu_writer_step, 0}, {"reader", gt_rcu_reader_step, 1}},
	.teardown = gt_rcu_teardown,
};

/* Two sides hand one datum to and fro. A wait that times out does not move the token, so the other side keeps the data. */
#define GT_HANDOVER_WAIT (HZ / 10)
static DECLARE_COMPLETION(gt_completion_full);
static DECLARE_COMPLETION(gt_completion_empty);
static u64 gt_completion_data gt_datum;

static int gt_completion_setup(void)
{
	reinit_completion(&gt_completion_full);
	reinit_completion(&gt_completion_empty);
	complete(&gt_completion_empty);
	return 0;
}

static gt_fn void gt_completion_producer(u64 round)
{
	if (!wait_for_completion_timeout(&gt_completion_empty, GT_HANDOVER_WAIT))
		return;
	gt_completion_data += round;
	complete(&gt_completion_full);
}

static gt_fn void gt_completion_consumer(u64 round)
{
	if (!wait_for_completion_timeout(&gt_completion_full, GT_HANDOVER_WAIT))
		return;
	gt_completion_data -= round;
	complete(&gt_completion_empty);
}

const struct gt_case gt_case_completion = {
	.name = "completion",
	.group = "controls",
	.side = {{"producer", gt_completion_producer, 0}, {"consumer", gt_completion_consumer, 1}},
	.setup = gt_completion_setup,
};

/* Per-CPU data through an ordinary pointer: the same variable, never the same memory. */
struct gt_percpu {
	u64 events;
};
static DEFINE_PER_CPU_ALIGNED(struct gt_percpu, gt_percpu_data);

static gt_fn void gt_percpu_first(u64 round)
{
	struct gt_percpu *mine = get_cpu_ptr(&gt_percpu_data);

	mine->events++;
	put_cpu_ptr(&gt_percpu_data);
}

static gt_fn void gt_percpu_second(u64 round)
{
	struct gt_percpu *mine = get_cpu_ptr(&gt_percpu_data);

	mine->events += 2;
	put_cpu_ptr(&gt_percpu_data);
}

const struct gt_case gt_case_percpu = {
	.name = "percpu",
	.group = "controls",
	.side = {{"first", gt_percpu_first, 0}, {"second", gt_percpu_second, 1}},
};

/* On one CPU, a task with interrupts off keeps the handler out. */
static struct {
	u32 pending;
} gt_irqsoff gt_datum;

static gt_fn void gt_irqsoff_task(u64 round)
{
	unsigned long flags;
	u32 pending;

	local_irq_save(flags);
	pending = gt_irqsoff.pending;
	gt_use(pending);
	gt_irqsoff.pending = pending - 1;
	local_irq_restore(flags);
}

static gt_fn void gt_irqsoff_timer(u64 round)
{
	gt_irqsoff.pending++;
}

const struct gt_case gt_case_irqsoff = {
	.name = "irqsoff",
	.group = "controls",
	.side = {{"task", gt_irqsoff_task, 0}, {"timer", gt_irqsoff_timer, 0, GT_TIMER}},
};

/* Two neighbours in one word: a detector that rounds addresses to words would see a race. */
static struct {
	u8 low, high;
} gt_bytes gt_datum;

static gt_fn void gt_bytes_low(u64 round)
{
	gt_bytes.low++;
}

static gt_fn void gt_bytes_high(u64 round)
{
	gt_bytes.high++;
}

const struct gt_case gt_case_bytes = {
	.name = "bytes",
	.group = "controls",
	.side = {{"low", gt_bytes_low, 0}, {"high", gt_bytes_high, 1}},
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* Group "ordered": data that acquire and release hand over, and one word that a reader always sees whole. */
#include <linux/circ_buf.h>
#include <linux/slab.h>

#include "gt.h"

/* A ring of one producer and one consumer (Documentation/core-api/circular-buffers.rst). */
#define GT_SPSC_SLOTS 16u
static struct {
	unsigned long head ____cacheline_aligned; /* the producer's */
	unsigned long tail ____cacheline_aligned; /* the consumer's */
	u64 slot[GT_SPSC_SLOTS] ____cacheline_aligned;
} gt_spsc gt_datum;

static gt_fn void gt_spsc_producer(u64 round)
{
	unsigned long head = gt_spsc.head, tail = READ_ONCE(gt_spsc.tail);

	if (CIRC_SPACE(head, tail, GT_SPSC_SLOTS) == 0)
		return;
	gt_spsc.slot[head] = round;
	smp_store_release(&gt_spsc.head, (head + 1) & (GT_SPSC_SLOTS - 1));
}

static gt_fn u64 gt_spsc_consumer(void)
{
	unsigned long head = smp_load_acquire(&gt_spsc.head), tail = gt_spsc.tail;
	u64 item;

	if (CIRC_CNT(head, tail, GT_SPSC_SLOTS) == 0)
		return 0;
	item = gt_spsc.slot[tail];
	smp_store_release(&gt_spsc.tail, (tail + 1) & (GT_SPSC_SLOTS - 1));
	return item;
}

static void gt_spsc_consumer_step(u64 round)
{
	gt_use(gt_spsc_consumer());
}

const struct gt_case gt_case_spsc = {
	.name = "spsc",
	.group = "ordered",
	.side = {{"producer", gt_spsc_producer, 0}, {"consumer", gt_spsc_consumer_step, 1}},
};

/* A mailbox: `full` says which side may use the letter, and only that side accesses it. */
static struct {
	u32 full;
	u64 letter[2];
} gt_mailbox gt_datum;

static gt_fn void gt_mailbox_sender(u64 round)
{
	if (smp_load_acquire(&gt_mailbox.full))
		return;
	gt_mailbox.letter[0] = round;
	gt_mailbox.letter[1] = ~round;
	smp_store_release(&gt_mailbox.full, 1);
}

static gt_fn u64 gt_mailbox_taker(void)
{
	u64 letter;

	if (!smp_load_acquire(&gt_mailbox.full))
		return 0;
	letter = gt_mailbox.letter[0] + gt_mailbox.letter[1];
	smp_store_release(&gt_mailbox.full, 0);
	return letter;
}

static void gt_mailbox_taker_step(u64 round)
{
	gt_use(gt_mailbox_taker());
}

const struct gt_case gt_case_mailbox = {
	.name = "mailbox",
	.group = "ordered",
	.side = {{"sender", gt_mailbox_sender, 0}, {"taker", gt_mailbox_taker_step, 1}},
};

/* A box for one object: the side that fills it gives the object away, and the side that empties it owns the object. */
struct gt_ptrbox {
	u64 a, b;
};
static struct gt_ptrbox *gt_ptrbox_box gt_datum;

static gt_fn void gt_ptrbox_giver(u64 round)
{
	struct gt_ptrbox *object;

	if (smp_load_acquire(&gt_ptrbox_box))
		return;
	object = kmalloc(sizeof(*object), GFP_KERNEL);
	if (!object)
		return;
	object->a = round;
	object->b = ~round;
	smp_store_release(&gt_ptrbox_box, object);
}

static gt_fn u64 gt_ptrbox_taker(void)
{
	struct gt_ptrbox *object = smp_load_acquire(&gt_ptrbox_box);
	u64 sum;

	if (!object)
		return 0;
	smp_store_release(&gt_ptrbox_box, NULL);
	sum = object->a + object->b;
	kfree(object);
	return sum;
}

static void gt_ptrbox_taker_step(u64 round)
{
	gt_use(gt_ptrbox_taker());
}

static void gt_ptrbox_teardown(void)
{
	gt_use(gt_ptrbox_taker());
}

const struct gt_case gt_case_ptrbox = {
	.name = "ptrbox",
	.group = "ordered",
	.side = {{"giver", gt_ptrbox_giver, 0}, {"taker", gt_ptrbox_taker_step, 1}},
	.teardown = gt_ptrbox_teardown,
};

/* A limit that is one word: a reader takes the old value or the new value. Machine code does not show that this is meant. */
static struct {
	u32 limit;
} gt_onceword gt_datum;

static gt_fn void gt_onceword_setter(u64 round)
{
	u32 limit = round & 0xff;

	gt_use(limit);
	WRITE_ONCE(gt_onceword.limit, limit);
}

static gt_fn void gt_onceword_looker(u64 round)
{
	gt_use(READ_ONCE(gt_onceword.limit));
}

const struct gt_case gt_case_onceword = {
	.name = "onceword",
	.group = "ordered",
	.side = {{"setter", gt_onceword_setter, 0}, {"looker", gt_onceword_looker, 1}},
};

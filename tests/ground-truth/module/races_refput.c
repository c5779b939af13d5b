// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replay paper, figure 2: both threads drop a reference without a lock, and who then reads zero frees the object.
 *
 * What can go wrong (freed twice, never freed) must not hurt the guest: a LOCKed flag lets the first of them free, RCU delays
 * that until both sides have left the object, and the owner frees what nobody did.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "gt.h"

struct gt_refput {
	int refcnt;
	atomic_t released;
	struct rcu_head rcu;
};

static atomic_long_t gt_refput_slot gt_datum;
static struct gt_refput *gt_refput_last; /* of the user's thread only */

static void gt_refput_release(struct gt_refput *foo)
{
	if (atomic_inc_return(&foo->released) == 1)
		kfree_rcu(foo, rcu);
}

static gt_fn void gt_refput_owner(struct gt_refput *foo)
{
	foo->refcnt--;
	barrier(); /* the figure reads the counter again */
	if (foo->refcnt == 0)
		gt_refput_release(foo);
}

static gt_fn void gt_refput_user(struct gt_refput *foo)
{
	foo->refcnt--;
	barrier();
	if (foo->refcnt == 0)
		gt_refput_release(foo);
}

static struct gt_refput *gt_refput_new(void)
{
	struct gt_refput *foo = kzalloc(sizeof(*foo), GFP_KERNEL);

	if (foo)
		foo->refcnt = 2;
	return foo;
}

static gt_fn void gt_refput_owner_step(u64 round)
{
	struct gt_refput *foo = gt_refput_new();

	if (!foo)
		return;
	rcu_read_lock();
	atomic_long_xchg(&gt_refput_slot, (long)foo);
	harness_pause();
	gt_refput_owner(foo);
	atomic_long_xchg(&gt_refput_slot, 0);
	gt_refput_release(foo);
	rcu_read_unlock();
}

static gt_fn void gt_refput_user_step(u64 round)
{
	struct gt_refput *foo;

	rcu_read_lock();
	foo = (struct gt_refput *)atomic_long_fetch_add(0, &gt_refput_slot);
	if (foo && foo != gt_refput_last)
		gt_refput_user(foo);
	gt_refput_last = foo;
	rcu_read_unlock();
}

const struct gt_case gt_case_refput = {
	.name = "refput",
	.group = "locking",
	.side = {{"owner", gt_refput_owner_step, 0}, {"user", gt_refput_user_step, 1}},
};

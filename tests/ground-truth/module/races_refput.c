// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replay paper, figure 2: both threads drop a reference without a lock, and a thread that then reads zero frees the object.
 *
 * What can go wrong (freed twice, never freed) must not hurt the guest. So a free waits by RCU until both sides have left the
 * object, and then frees it once, no matter how many frees they requested.
 *
 * With the parameter refput_twice it is freed once for each request. It comes from vmalloc() then, since vfree() is the
 * one free that refuses what is free already, says so in the kernel's log, and leaves the guest unhurt. A slab does not, even
 * one that checks: the second free cuts its list of free objects before the check.
 */
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "gt.h"

/* Older kernels have no flag for a workqueue per CPU. Newer ones warn of a workqueue that has neither it nor WQ_UNBOUND. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
#define WQ_PERCPU 0
#endif

struct gt_refput {
	int refcnt;
	atomic_t released; /* how many frees were requested */
	struct rcu_work free;
};

static bool refput_twice;
module_param(refput_twice, bool, 0444);
MODULE_PARM_DESC(refput_twice, "whether the case refput frees an object twice when both sides ask for it");

static struct workqueue_struct *gt_refput_frees;
static atomic_long_t gt_refput_slot gt_datum;
static struct gt_refput *gt_refput_last; /* only the user's thread uses it */

static int gt_refput_setup(void)
{
	gt_refput_frees = alloc_workqueue("gt_refput", WQ_PERCPU, 0);
	return gt_refput_frees ? 0 : -ENOMEM;
}

static void gt_refput_teardown(void)
{
	rcu_barrier();
	destroy_workqueue(gt_refput_frees);
}

static void harness_refput_free(struct work_struct *work)
{
	struct gt_refput *foo = container_of(to_rcu_work(work), struct gt_refput, free);
	int times = refput_twice ? atomic_fetch_add(0, &foo->released) : 1;

	/* `released` is 0: a decrement was lost, or the user never saw the object. */
	if (!times)
		times = 1;
	while (times--)
		kvfree(foo);
}

static void gt_refput_release(struct gt_refput *foo)
{
	atomic_inc(&foo->released);
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
	struct gt_refput *foo = refput_twice ? vzalloc(sizeof(*foo)) : kzalloc(sizeof(*foo), GFP_KERNEL);

	if (!foo)
		return NULL;
	foo->refcnt = 2;
	INIT_RCU_WORK(&foo->free, harness_refput_free);
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
	queue_rcu_work(gt_refput_frees, &foo->free);
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
	.setup = gt_refput_setup,
	.teardown = gt_refput_teardown,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What makes the guest's kernel complain of itself, on request: "complain KIND" in the /proc file, in the context of the
 * writer, which an oops kills. And a race that ends in an oops.
 */
#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/panic.h>
#include <linux/preempt.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "gt.h"

/* ---- on request ---- */

struct gt_complain_object {
	u64 padding, value;
};

static gt_fn void gt_complain_null(void)
{
	struct gt_complain_object *none = NULL;

	OPTIMIZER_HIDE_VAR(none);
	gt_use(none->value);
}

static gt_fn void gt_complain_bug(void)
{
	BUG();
}

static gt_fn void gt_complain_warn(void)
{
	WARN(1, "gt: a warning\n");
}

static gt_fn void gt_complain_list(void)
{
	struct list_head list, one, two;

	INIT_LIST_HEAD(&list);
	list_add(&one, &list);
	list_add(&two, &list);
	two.next = &list;
	list_del(&one);
}

static gt_fn void gt_complain_refcount(void)
{
	refcount_t dead = REFCOUNT_INIT(0);

	refcount_inc(&dead);
}

/* An object is given back to a cache that it is not from. The kernel says so, and gives it to the right one. */
static gt_fn void gt_complain_slab(void)
{
	struct kmem_cache *cache = kmem_cache_create("gt_complain", 72, 0, 0, NULL);
	void *object = kmalloc(72, GFP_KERNEL);

	if (cache && object)
		kmem_cache_free(cache, object);
	kmem_cache_destroy(cache);
}

/* Longer than twice the kernel.watchdog_thresh of 1 s that the caller sets. */
static gt_fn void gt_complain_lockup(void)
{
	u64 end = ktime_get_ns() + 6 * NSEC_PER_SEC;

	preempt_disable();
	while (ktime_get_ns() < end)
		cpu_relax();
	preempt_enable();
}

/*
 * Longer than three times the kernel.hung_task_timeout_secs of 2 s that the caller sets: the kernel looks at tasks that often.
 */
static gt_fn void gt_complain_hung(void)
{
	schedule_timeout_uninterruptible(8 * HZ);
}

/* Write over the canary that follows the array. The kernel panics before the return address is used. */
static gt_fn void gt_complain_stack(void)
{
	char bytes[16], *at = bytes;
	unsigned int i;

	OPTIMIZER_HIDE_VAR(at);
	for (i = 0; i < 2 * sizeof(bytes); i++)
		WRITE_ONCE(at[i], 0x55);
}

static gt_fn void gt_complain_panic(void)
{
	panic("gt: a panic");
}

static const struct {
	const char *kind;
	void (*complain)(void);
} gt_complaints[] = {
	{"null", gt_complain_null},	{"bug", gt_complain_bug},     {"warn", gt_complain_warn},
	{"list", gt_complain_list},	{"slab", gt_complain_slab},   {"refcount", gt_complain_refcount},
	{"lockup", gt_complain_lockup}, {"panic", gt_complain_panic}, {"hung", gt_complain_hung},
	{"stack", gt_complain_stack},
};

int harness_complain(const char *kind)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(gt_complaints); i++) {
		if (strcmp(gt_complaints[i].kind, kind))
			continue;
		gt_complaints[i].complain();
		return 0;
	}
	return -ENOENT;
}

/* ---- a race that ends in an oops ---- */

static bool fatal;
module_param(fatal, bool, 0444);
MODULE_PARM_DESC(fatal, "whether there are cases that end in an oops");

static bool harness_fatal_available(void)
{
	return fatal;
}

static struct gt_complain_object gt_nulluse_object;
static struct gt_complain_object *gt_nulluse_pointer gt_datum;

/* The pointer is looked at twice. */
static gt_fn void gt_nulluse_use(u64 round)
{
	if (!gt_nulluse_pointer)
		return;
	barrier();
	gt_use(gt_nulluse_pointer->value);
}

static gt_fn void gt_nulluse_clear(u64 round)
{
	gt_nulluse_pointer = NULL;
	barrier();
	gt_nulluse_pointer = &gt_nulluse_object;
}

static int gt_nulluse_setup(void)
{
	gt_nulluse_pointer = &gt_nulluse_object;
	return 0;
}

const struct gt_case gt_case_nulluse = {
	.name = "nulluse",
	.group = "fatal",
	.side = {{.name = "use", .step = gt_nulluse_use, .cpu = 0, .context = GT_TASK},
		 {.name = "clear", .step = gt_nulluse_clear, .cpu = 1, .context = GT_TASK}},
	.available = harness_fatal_available,
	.setup = gt_nulluse_setup,
};

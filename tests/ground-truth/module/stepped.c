// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pairs of calls for `outrider explore`: "prepare NAME" in the /proc file makes the data, and "step NAME SIDE" makes one side's
 * call in the context of the writer, without a lock. Each pair is harmless in both serial orders. In the racy pairs, one
 * interleaving makes the kernel complain, or both calls succeed although one must fail. The objects come from vmalloc(), whose
 * freed memory is no longer mapped, so that each use after free faults.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "gt.h"

struct gt_stepped_object {
	int refs;
	u64 value;
};

static struct gt_stepped_object *gt_stepped_pointer gt_datum;
static struct gt_stepped_object gt_stepped_static;
static DEFINE_SPINLOCK(gt_stepped_lock);

static int gt_stepped_make(void)
{
	vfree(gt_stepped_pointer);
	gt_stepped_pointer = vzalloc(sizeof(*gt_stepped_pointer));
	if (!gt_stepped_pointer)
		return -ENOMEM;
	gt_stepped_pointer->refs = 2;
	return 0;
}

/* Two owners drop their references without a lock. When both decrement before one of them tests, both free the object. */
static gt_fn int gt_twice_put(void)
{
	struct gt_stepped_object *o = gt_stepped_pointer;

	o->refs--;
	barrier(); /* the counter is read again */
	if (o->refs == 0)
		vfree(o);
	return 0;
}

/* The user has read the pointer when the owner frees the object. */
static gt_fn int gt_lateuse_use(void)
{
	struct gt_stepped_object *o = gt_stepped_pointer;

	if (!o)
		return -ENOENT;
	barrier();
	gt_use(o->value);
	return 0;
}

static gt_fn int gt_lateuse_free(void)
{
	struct gt_stepped_object *o = gt_stepped_pointer;

	gt_stepped_pointer = NULL;
	barrier();
	vfree(o);
	return 0;
}

/* The pointer is looked at twice. It is NULL for a moment only. */
static int gt_nulltest_make(void)
{
	gt_stepped_pointer = &gt_stepped_static;
	return 0;
}

static gt_fn int gt_nulltest_use(void)
{
	if (!gt_stepped_pointer)
		return 0;
	barrier();
	gt_use(gt_stepped_pointer->value);
	return 0;
}

static gt_fn int gt_nulltest_clear(void)
{
	gt_stepped_pointer = NULL;
	barrier();
	gt_stepped_pointer = &gt_stepped_static;
	return 0;
}

/*
 * The reader looks at the pointer only while the flag is set, and the writer clears the pointer for a moment only while the
 * flag is set. So two pairs of accesses must come in a certain order, and the reader alone never looks at the pointer.
 */
static bool gt_stepped_flag gt_datum;

static int gt_chained_make(void)
{
	gt_stepped_pointer = &gt_stepped_static;
	gt_stepped_flag = false;
	return 0;
}

static gt_fn int gt_chained_use(void)
{
	if (!gt_stepped_flag)
		return 0;
	barrier();
	gt_use(gt_stepped_pointer->value);
	return 0;
}

static gt_fn int gt_chained_clear(void)
{
	gt_stepped_flag = true;
	barrier();
	gt_stepped_pointer = NULL;
	barrier();
	gt_stepped_pointer = &gt_stepped_static;
	barrier();
	gt_stepped_flag = false;
	return 0;
}

/*
 * One seat: the caller that finds it free takes it, and the other one is told that it is busy. Both take it if both look before
 * one of them takes it. Only what the calls return shows this.
 */
static bool gt_oneseat_taken gt_datum;

static int gt_oneseat_make(void)
{
	gt_oneseat_taken = false;
	return 0;
}

static gt_fn int gt_oneseat_take(void)
{
	if (gt_oneseat_taken)
		return -EBUSY;
	barrier();
	gt_oneseat_taken = true;
	return 0;
}

/*
 * The first caller allocates an object for all. If both look before one of them stores its object, one object is lost: nothing
 * but a look at all memory shows this.
 */
struct gt_allocated {
	int (*make)(void);
	char rest[600];
};

static struct gt_allocated *gt_alloconce_object gt_datum;

static int gt_alloconce_make(void)
{
	kfree(gt_alloconce_object);
	gt_alloconce_object = NULL;
	return 0;
}

static gt_fn struct gt_allocated *gt_alloconce_new(void)
{
	struct gt_allocated *o = kzalloc(sizeof(*o), GFP_KERNEL);

	if (o)
		o->make = gt_alloconce_make;
	return o;
}

static gt_fn int gt_alloconce_get(void)
{
	if (!gt_alloconce_object) {
		struct gt_allocated *o = gt_alloconce_new();

		barrier();
		gt_alloconce_object = o;
	}
	return 0;
}

/* The control of `alloconce`: the caller that comes second frees its object, after a grace period. */
static gt_fn int gt_alloclose_get(void)
{
	struct gt_allocated *o;

	if (READ_ONCE(gt_alloconce_object))
		return 0;
	o = gt_alloconce_new();
	if (o && cmpxchg(&gt_alloconce_object, NULL, o)) {
		synchronize_rcu();
		kfree(o);
	}
	return 0;
}

/*
 * Both callers free the object if both look before one of them clears the pointer. A kernel with CONFIG_SLAB_FREELIST_HARDENED
 * notices only an object that is freed twice in a row (set_freepointer() in mm/slub.c), so each caller frees another one then.
 */
static struct gt_allocated *gt_freetwice_object gt_datum;

static int gt_freetwice_make(void)
{
	gt_freetwice_object = kzalloc(sizeof(*gt_freetwice_object), GFP_KERNEL);
	return gt_freetwice_object ? 0 : -ENOMEM;
}

static gt_fn int gt_freetwice_put(void)
{
	struct gt_allocated *later = kzalloc(sizeof(*later), GFP_KERNEL), *o = gt_freetwice_object;

	if (o) {
		barrier();
		gt_freetwice_object = NULL;
		kfree(o);
	}
	kfree(later);
	return 0;
}

/* The control of `freetwice`: only one caller gets the pointer. */
static gt_fn int gt_freeonce_put(void)
{
	struct gt_allocated *later = kzalloc(sizeof(*later), GFP_KERNEL);

	kfree(xchg(&gt_freetwice_object, NULL));
	kfree(later);
	return 0;
}

/* The control of `twice`: the decrement and the test are one critical section. */
static gt_fn int gt_lockedput_put(void)
{
	struct gt_stepped_object *o = gt_stepped_pointer;
	bool last;

	spin_lock(&gt_stepped_lock);
	o->refs--;
	last = o->refs == 0;
	spin_unlock(&gt_stepped_lock);
	if (last)
		vfree(o);
	return 0;
}

static const struct gt_stepped {
	const char *name;
	int (*prepare)(void);
	int (*side[2])(void);
} gt_stepped[] = {
	{"twice", gt_stepped_make, {gt_twice_put, gt_twice_put}},
	{"lateuse", gt_stepped_make, {gt_lateuse_use, gt_lateuse_free}},
	{"nulltest", gt_nulltest_make, {gt_nulltest_use, gt_nulltest_clear}},
	{"chained", gt_chained_make, {gt_chained_use, gt_chained_clear}},
	{"oneseat", gt_oneseat_make, {gt_oneseat_take, gt_oneseat_take}},
	{"alloconce", gt_alloconce_make, {gt_alloconce_get, gt_alloconce_get}},
	{"alloclose", gt_alloconce_make, {gt_alloclose_get, gt_alloclose_get}},
	{"freetwice", gt_freetwice_make, {gt_freetwice_put, gt_freetwice_put}},
	{"freeonce", gt_freetwice_make, {gt_freeonce_put, gt_freeonce_put}},
	{"lockedput", gt_stepped_make, {gt_lockedput_put, gt_lockedput_put}},
};

static const struct gt_stepped *harness_stepped(const char *name)
{
	unsigned int i;

	for (i = 0; name && i < ARRAY_SIZE(gt_stepped); i++)
		if (!strcmp(gt_stepped[i].name, name))
			return &gt_stepped[i];
	return NULL;
}

int harness_prepare(const char *name)
{
	const struct gt_stepped *s = harness_stepped(name);

	return s ? s->prepare() : -ENOENT;
}

int harness_step_pair(const char *name, unsigned int side)
{
	const struct gt_stepped *s = harness_stepped(name);

	return s ? s->side[side]() : -ENOENT;
}

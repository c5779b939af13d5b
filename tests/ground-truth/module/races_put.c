// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Group "references": references that are taken and dropped by LOCKed instructions. Linux's Documentation/RCU/rcuref.rst says which ways are right.
 *
 * What is "freed" here goes back to a table, and its memory does not change: the guest survives a reference taken too late.
 * The table is so long that an object is used again only after all that may still use it.
 */
#include <linux/atomic.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "gt.h"

#define GT_PUT_OBJECTS 1024

struct gt_put {
	atomic_t users;
	u32 value;
};

/* The object in use, which has a reference of its own, and all objects. */
struct gt_put_table {
	spinlock_t lock;
	struct gt_put *current_one;
	struct gt_put *all;
};

static int gt_put_make(struct gt_put_table *t, int users)
{
	spin_lock_init(&t->lock);
	t->all = kcalloc(GT_PUT_OBJECTS, sizeof(*t->all), GFP_KERNEL);
	if (!t->all)
		return -ENOMEM;
	t->current_one = t->all;
	atomic_set(&t->all->users, users);
	return 0;
}

/* By its name, it ends the object's life. */
static gt_fn void gt_put_free(struct gt_put *object)
{
	gt_use(object);
}

/* Put another object into the place of the one in use. Returns the old one, whose reference in the table is the caller's now. */
static __always_inline struct gt_put *gt_put_exchange(struct gt_put_table *t, u64 round)
{
	struct gt_put *next = &t->all[round % GT_PUT_OBJECTS], *old;

	atomic_set(&next->users, 1);
	spin_lock(&t->lock);
	old = t->current_one;
	t->current_one = next;
	spin_unlock(&t->lock);
	return old;
}

#define GT_PUT_CASE(case_name, group_name, users, first, second)                                                 \
	static struct gt_put_table gt_##case_name gt_datum;                                               \
	static int gt_##case_name##_setup(void)                                                           \
	{                                                                                                 \
		return gt_put_make(&gt_##case_name, users);                                               \
	}                                                                                                 \
	static void gt_##case_name##_teardown(void)                                                       \
	{                                                                                                 \
		kfree(gt_##case_name.all);                                                                \
	}                                                                                                 \
	const struct gt_case gt_case_##case_name = {                                                      \
		.name = #case_name,                                                                       \
		.group = group_name,                                                                      \
		.side = {{#first, gt_##case_name##_##first, 0}, {#second, gt_##case_name##_##second, 1}}, \
		.setup = gt_##case_name##_setup,                                                          \
		.teardown = gt_##case_name##_teardown,                                                    \
	}

/* The reference is taken after the lock was released: the last one may be gone. */
static struct gt_put_table gt_getlate;

static gt_fn void gt_getlate_drop(struct gt_put *object)
{
	if (atomic_dec_and_test(&object->users))
		gt_put_free(object);
}

static gt_fn void gt_getlate_user(u64 round)
{
	struct gt_put *object;

	spin_lock(&gt_getlate.lock);
	object = gt_getlate.current_one;
	spin_unlock(&gt_getlate.lock);
	atomic_inc(&object->users);
	gt_use(object->value);
	gt_getlate_drop(object);
}

static gt_fn void gt_getlate_replacer(u64 round)
{
	gt_getlate_drop(gt_put_exchange(&gt_getlate, round));
}

GT_PUT_CASE(getlate, "references", 1, user, replacer);

/* The table's own reference cannot go before the lock is released. */
static struct gt_put_table gt_getheld;

static gt_fn void gt_getheld_drop(struct gt_put *object)
{
	if (atomic_dec_and_test(&object->users))
		gt_put_free(object);
}

static gt_fn void gt_getheld_user(u64 round)
{
	struct gt_put *object;

	spin_lock(&gt_getheld.lock);
	object = gt_getheld.current_one;
	atomic_inc(&object->users);
	spin_unlock(&gt_getheld.lock);
	gt_use(object->value);
	gt_getheld_drop(object);
}

static gt_fn void gt_getheld_replacer(u64 round)
{
	gt_getheld_drop(gt_put_exchange(&gt_getheld, round));
}

GT_PUT_CASE(getheld, "controls", 1, user, replacer);

/* The reference is taken only if there is one, by a cmpxchg. */
static struct gt_put_table gt_getzero;

static gt_fn void gt_getzero_drop(struct gt_put *object)
{
	if (atomic_dec_and_test(&object->users))
		gt_put_free(object);
}

static gt_fn void gt_getzero_user(u64 round)
{
	struct gt_put *object;

	spin_lock(&gt_getzero.lock);
	object = gt_getzero.current_one;
	spin_unlock(&gt_getzero.lock);
	if (!atomic_inc_not_zero(&object->users))
		return;
	gt_use(object->value);
	gt_getzero_drop(object);
}

static gt_fn void gt_getzero_replacer(u64 round)
{
	gt_getzero_drop(gt_put_exchange(&gt_getzero, round));
}

GT_PUT_CASE(getzero, "references", 1, user, replacer);

/* A count of what is under way goes to 0 and up again. The side that makes it 0 tells that nothing is under way. */
static struct gt_put_table gt_underway;

static gt_fn void gt_underway_tell(struct gt_put *object)
{
	gt_use(object);
}

static gt_fn void gt_underway_reader(u64 round)
{
	atomic_inc(&gt_underway.all->users);
	gt_use(gt_underway.all->value);
	if (atomic_dec_and_test(&gt_underway.all->users))
		gt_underway_tell(gt_underway.all);
}

static gt_fn void gt_underway_other(u64 round)
{
	atomic_inc(&gt_underway.all->users);
	gt_use(gt_underway.all->value);
	if (atomic_dec_and_test(&gt_underway.all->users))
		gt_underway_tell(gt_underway.all);
}

GT_PUT_CASE(underway, "references", 0, reader, other);

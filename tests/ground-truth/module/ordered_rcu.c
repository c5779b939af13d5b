// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Group "ordered": pointers and lists that readers follow under RCU while a writer changes them. Writers publish only
 * complete objects, and free a removed object only after a grace period.
 */
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "gt.h"

/* One pointer, replaced by a new object every round; kfree_rcu() frees the old one. */
struct gt_rcuswap {
	u64 value;
	struct rcu_head head;
};
static struct gt_rcuswap __rcu *gt_rcuswap_pointer gt_datum;

static gt_fn void gt_rcuswap_writer(u64 round)
{
	struct gt_rcuswap *fresh = kmalloc(sizeof(*fresh), GFP_KERNEL), *old;

	if (!fresh)
		return;
	fresh->value = round;
	old = rcu_replace_pointer(gt_rcuswap_pointer, fresh, true);
	if (old)
		kfree_rcu(old, head);
}

static gt_fn void gt_rcuswap_reader(u64 round)
{
	struct gt_rcuswap *object;

	rcu_read_lock();
	object = rcu_dereference(gt_rcuswap_pointer);
	if (object)
		gt_use(object->value);
	rcu_read_unlock();
}

static void gt_rcuswap_teardown(void)
{
	kfree(rcu_replace_pointer(gt_rcuswap_pointer, NULL, true));
}

const struct gt_case gt_case_rcuswap = {
	.name = "rcuswap",
	.group = "ordered",
	.side = {{"writer", gt_rcuswap_writer, 0}, {"reader", gt_rcuswap_reader, 1}},
	.teardown = gt_rcuswap_teardown,
};

/*
 * A list of one entry at most, so that every race is on the list's head. The entry is added in one round and taken out in the
 * next. call_rcu() frees it.
 */
struct gt_rculist {
	u64 value;
	struct list_head link;
	struct rcu_head head;
};
static struct list_head gt_rculist_list gt_datum = LIST_HEAD_INIT(gt_rculist_list);
static DEFINE_SPINLOCK(gt_rculist_lock);

static void harness_rculist_free(struct rcu_head *head)
{
	kfree(container_of(head, struct gt_rculist, head));
}

static gt_fn void gt_rculist_writer(u64 round)
{
	struct gt_rculist *entry;

	if (round & 1) {
		entry = kmalloc(sizeof(*entry), GFP_KERNEL);
		if (!entry)
			return;
		entry->value = round;
		spin_lock(&gt_rculist_lock);
		list_add_rcu(&entry->link, &gt_rculist_list);
		spin_unlock(&gt_rculist_lock);
		return;
	}
	spin_lock(&gt_rculist_lock);
	entry = list_first_entry_or_null(&gt_rculist_list, struct gt_rculist, link);
	if (entry) {
		list_del_rcu(&entry->link);
		call_rcu(&entry->head, harness_rculist_free);
	}
	spin_unlock(&gt_rculist_lock);
}

static gt_fn void gt_rculist_reader(u64 round)
{
	struct gt_rculist *object;

	rcu_read_lock();
	list_for_each_entry_rcu(object, &gt_rculist_list, link) gt_use(object->value);
	rcu_read_unlock();
}

/* An odd number of rounds leaves an entry in the list, and the callbacks are this module's code. */
static void gt_rculist_teardown(void)
{
	gt_rculist_writer(0);
	rcu_barrier();
}

const struct gt_case gt_case_rculist = {
	.name = "rculist",
	.group = "ordered",
	.side = {{"writer", gt_rculist_writer, 0}, {"reader", gt_rculist_reader, 1}},
	.teardown = gt_rculist_teardown,
};

/* The same with a chain of a hash table, whose entries kfree_rcu() frees. */
struct gt_rcuhash {
	u64 value;
	struct hlist_node link;
	struct rcu_head head;
};
static struct hlist_head gt_rcuhash_chain gt_datum;
static DEFINE_SPINLOCK(gt_rcuhash_lock);

static gt_fn void gt_rcuhash_writer(u64 round)
{
	struct gt_rcuhash *entry;

	if (round & 1) {
		entry = kmalloc(sizeof(*entry), GFP_KERNEL);
		if (!entry)
			return;
		entry->value = round;
		spin_lock(&gt_rcuhash_lock);
		hlist_add_head_rcu(&entry->link, &gt_rcuhash_chain);
		spin_unlock(&gt_rcuhash_lock);
		return;
	}
	spin_lock(&gt_rcuhash_lock);
	entry = hlist_entry_safe(gt_rcuhash_chain.first, struct gt_rcuhash, link);
	if (entry)
		hlist_del_rcu(&entry->link);
	spin_unlock(&gt_rcuhash_lock);
	if (entry)
		kfree_rcu(entry, head);
}

static gt_fn void gt_rcuhash_reader(u64 round)
{
	struct gt_rcuhash *object;

	rcu_read_lock();
	hlist_for_each_entry_rcu(object, &gt_rcuhash_chain, link) gt_use(object->value);
	rcu_read_unlock();
}

static void gt_rcuhash_teardown(void)
{
	gt_rcuhash_writer(0);
}

const struct gt_case gt_case_rcuhash = {
	.name = "rcuhash",
	.group = "ordered",
	.side = {{"writer", gt_rcuhash_writer, 0}, {"reader", gt_rcuhash_reader, 1}},
	.teardown = gt_rcuhash_teardown,
};

/* The writer itself waits for the grace period, and then frees. */
struct gt_rcuwait {
	u64 value;
};
static struct gt_rcuwait __rcu *gt_rcuwait_pointer gt_datum;

static gt_fn void gt_rcuwait_writer(u64 round)
{
	struct gt_rcuwait *fresh = kmalloc(sizeof(*fresh), GFP_KERNEL), *old;

	if (!fresh)
		return;
	fresh->value = round;
	old = rcu_replace_pointer(gt_rcuwait_pointer, fresh, true);
	synchronize_rcu();
	kfree(old);
}

static gt_fn void gt_rcuwait_reader(u64 round)
{
	struct gt_rcuwait *object;

	rcu_read_lock();
	object = rcu_dereference(gt_rcuwait_pointer);
	if (object)
		gt_use(object->value);
	rcu_read_unlock();
}

static void gt_rcuwait_teardown(void)
{
	kfree(rcu_replace_pointer(gt_rcuwait_pointer, NULL, true));
}

const struct gt_case gt_case_rcuwait = {
	.name = "rcuwait",
	.group = "ordered",
	.side = {{"writer", gt_rcuwait_writer, 0}, {"reader", gt_rcuwait_reader, 1}},
	.teardown = gt_rcuwait_teardown,
};

/* Read, copy, update: the updater follows the pointer under its lock, and gives readers a changed copy. */
struct gt_rcucopy {
	u64 value, updates;
	struct rcu_head head;
};
static struct gt_rcucopy __rcu *gt_rcucopy_pointer gt_datum;
static DEFINE_SPINLOCK(gt_rcucopy_lock);

static gt_fn void gt_rcucopy_updater(u64 round)
{
	struct gt_rcucopy *copy = kzalloc(sizeof(*copy), GFP_KERNEL), *old;

	if (!copy)
		return;
	spin_lock(&gt_rcucopy_lock);
	old = rcu_dereference_protected(gt_rcucopy_pointer, lockdep_is_held(&gt_rcucopy_lock));
	if (old)
		copy->updates = old->updates + 1;
	copy->value = round;
	rcu_assign_pointer(gt_rcucopy_pointer, copy);
	spin_unlock(&gt_rcucopy_lock);
	if (old)
		kfree_rcu(old, head);
}

static gt_fn void gt_rcucopy_reader(u64 round)
{
	struct gt_rcucopy *object;

	rcu_read_lock();
	object = rcu_dereference(gt_rcucopy_pointer);
	if (object)
		gt_use(object->value);
	rcu_read_unlock();
}

static void gt_rcucopy_teardown(void)
{
	kfree(rcu_replace_pointer(gt_rcucopy_pointer, NULL, true));
}

const struct gt_case gt_case_rcucopy = {
	.name = "rcucopy",
	.group = "ordered",
	.side = {{"updater", gt_rcucopy_updater, 0}, {"reader", gt_rcucopy_reader, 1}},
	.teardown = gt_rcucopy_teardown,
};

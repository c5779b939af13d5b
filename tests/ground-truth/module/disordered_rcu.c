// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Group "disordered": RCU with one thing wrong. A reader may read an object that has become another one. The memory of such an
 * object stays mapped and stays of one type, so the guest goes on.
 */
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "gt.h"

/*
 * The writer frees an object at once that a reader may still use. The cache keeps its memory (SLAB_TYPESAFE_BY_RCU), and its
 * objects are initialised once, by the cache's constructor, so that the pointer is the only datum that is raced on.
 */
struct gt_rcufree {
	u64 value;
};
static struct kmem_cache *gt_rcufree_cache;
static struct gt_rcufree __rcu *gt_rcufree_pointer gt_datum;

static void gt_rcufree_object_setup(void *object)
{
	((struct gt_rcufree *)object)->value = 1;
}

static int gt_rcufree_setup(void)
{
	gt_rcufree_cache =
		kmem_cache_create("gt_rcufree", sizeof(struct gt_rcufree), 0, SLAB_TYPESAFE_BY_RCU, gt_rcufree_object_setup);
	return gt_rcufree_cache ? 0 : -ENOMEM;
}

static gt_fn void gt_rcufree_writer(u64 round)
{
	struct gt_rcufree *fresh = kmem_cache_alloc(gt_rcufree_cache, GFP_KERNEL), *old;

	if (!fresh)
		return;
	old = rcu_replace_pointer(gt_rcufree_pointer, fresh, true);
	if (old)
		kmem_cache_free(gt_rcufree_cache, old);
}

static gt_fn void gt_rcufree_reader(u64 round)
{
	struct gt_rcufree *object;

	rcu_read_lock();
	object = rcu_dereference(gt_rcufree_pointer);
	if (object)
		gt_use(object->value);
	rcu_read_unlock();
}

static void gt_rcufree_teardown(void)
{
	struct gt_rcufree *last = rcu_replace_pointer(gt_rcufree_pointer, NULL, true);

	if (last)
		kmem_cache_free(gt_rcufree_cache, last);
	kmem_cache_destroy(gt_rcufree_cache);
}

const struct gt_case gt_case_rcufree = {
	.name = "rcufree",
	.group = "disordered",
	.side = {{"writer", gt_rcufree_writer, 0}, {"reader", gt_rcufree_reader, 1}},
	.setup = gt_rcufree_setup,
	.teardown = gt_rcufree_teardown,
};

/* The writer removes an entry, changes it and adds it again at once, while a reader may be at it. */
struct gt_rcureuse_entry {
	u64 value;
	struct list_head link;
};
static struct {
	struct list_head list;
	struct gt_rcureuse_entry entry;
} gt_rcureuse gt_datum = {
	.list = LIST_HEAD_INIT(gt_rcureuse.list),
};
static DEFINE_SPINLOCK(gt_rcureuse_lock);

static int gt_rcureuse_setup(void)
{
	INIT_LIST_HEAD(&gt_rcureuse.list);
	list_add_rcu(&gt_rcureuse.entry.link, &gt_rcureuse.list);
	return 0;
}

static gt_fn void gt_rcureuse_writer(u64 round)
{
	struct gt_rcureuse_entry *entry;

	spin_lock(&gt_rcureuse_lock);
	entry = list_first_entry(&gt_rcureuse.list, struct gt_rcureuse_entry, link);
	list_del_rcu(&entry->link);
	entry->value = round;
	list_add_rcu(&entry->link, &gt_rcureuse.list);
	spin_unlock(&gt_rcureuse_lock);
}

static gt_fn void gt_rcureuse_reader(u64 round)
{
	struct gt_rcureuse_entry *entry;

	rcu_read_lock();
	list_for_each_entry_rcu(entry, &gt_rcureuse.list, link) gt_use(entry->value);
	rcu_read_unlock();
}

const struct gt_case gt_case_rcureuse = {
	.name = "rcureuse",
	.group = "disordered",
	.side = {{"writer", gt_rcureuse_writer, 0}, {"reader", gt_rcureuse_reader, 1}},
	.setup = gt_rcureuse_setup,
};

/*
 * The writer is correct, but the reader is in no RCU section, so no grace period waits for it. The objects are of a
 * cache like rcufree's, so that the reader meets no foreign data in an object that was freed.
 */
struct gt_rcubare {
	u64 value;
	struct rcu_head head;
};
static struct kmem_cache *gt_rcubare_cache;
static struct gt_rcubare __rcu *gt_rcubare_pointer gt_datum;

static void gt_rcubare_object_setup(void *object)
{
	((struct gt_rcubare *)object)->value = 1;
}

static int gt_rcubare_setup(void)
{
	gt_rcubare_cache =
		kmem_cache_create("gt_rcubare", sizeof(struct gt_rcubare), 0, SLAB_TYPESAFE_BY_RCU, gt_rcubare_object_setup);
	return gt_rcubare_cache ? 0 : -ENOMEM;
}

static void harness_rcubare_free(struct rcu_head *head)
{
	kmem_cache_free(gt_rcubare_cache, container_of(head, struct gt_rcubare, head));
}

static gt_fn void gt_rcubare_writer(u64 round)
{
	struct gt_rcubare *fresh = kmem_cache_alloc(gt_rcubare_cache, GFP_KERNEL), *old;

	if (!fresh)
		return;
	old = rcu_replace_pointer(gt_rcubare_pointer, fresh, true);
	if (old)
		call_rcu(&old->head, harness_rcubare_free);
}

static gt_fn void gt_rcubare_reader(u64 round)
{
	struct gt_rcubare *object = rcu_dereference(gt_rcubare_pointer);

	if (object)
		gt_use(object->value);
}

static void gt_rcubare_teardown(void)
{
	struct gt_rcubare *last = rcu_replace_pointer(gt_rcubare_pointer, NULL, true);

	rcu_barrier();
	if (last)
		kmem_cache_free(gt_rcubare_cache, last);
	kmem_cache_destroy(gt_rcubare_cache);
}

const struct gt_case gt_case_rcubare = {
	.name = "rcubare",
	.group = "disordered",
	.side = {{"writer", gt_rcubare_writer, 0}, {"reader", gt_rcubare_reader, 1}},
	.setup = gt_rcubare_setup,
	.teardown = gt_rcubare_teardown,
};

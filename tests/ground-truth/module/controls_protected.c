// SPDX-License-Identifier: GPL-2.0-or-later
/* Group "controls": no race, though not every access is under the lock, or the lock is not simply taken. */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "gt.h"

/* One side waits for the lock, and the other side leaves the data alone when the lock is taken: spinlock and mutex alike. */
static struct {
	spinlock_t lock;
	u32 last;
} gt_trylock_fast gt_datum = {.lock = __SPIN_LOCK_UNLOCKED(gt_trylock_fast.lock)};
static struct {
	struct mutex lock;
	u32 last;
} gt_trylock_slow gt_datum = {.lock = __MUTEX_INITIALIZER(gt_trylock_slow.lock)};

static gt_fn void gt_trylock_trier(u64 round)
{
	if (spin_trylock(&gt_trylock_fast.lock)) {
		gt_trylock_fast.last = round;
		spin_unlock(&gt_trylock_fast.lock);
	}
	if (mutex_trylock(&gt_trylock_slow.lock)) {
		gt_trylock_slow.last = round;
		mutex_unlock(&gt_trylock_slow.lock);
	}
}

static gt_fn void gt_trylock_waiter(u64 round)
{
	spin_lock(&gt_trylock_fast.lock);
	gt_trylock_fast.last = ~round;
	spin_unlock(&gt_trylock_fast.lock);
	mutex_lock(&gt_trylock_slow.lock);
	gt_trylock_slow.last = ~round;
	mutex_unlock(&gt_trylock_slow.lock);
}

const struct gt_case gt_case_trylock = {
	.name = "trylock",
	.group = "controls",
	.side = {{"trier", gt_trylock_trier, 0}, {"waiter", gt_trylock_waiter, 1}},
};

/* An object is filled without the lock, and then given to others, who use it under the lock. What was taken back is freed. */
struct gt_publish {
	u64 made, used;
};
static struct {
	spinlock_t lock;
	struct gt_publish *object;
} gt_publish_place gt_datum = {.lock = __SPIN_LOCK_UNLOCKED(gt_publish_place.lock)};

static gt_fn struct gt_publish *gt_publish_exchange(struct gt_publish *fresh)
{
	struct gt_publish *old;

	spin_lock(&gt_publish_place.lock);
	old = gt_publish_place.object;
	gt_publish_place.object = fresh;
	spin_unlock(&gt_publish_place.lock);
	return old;
}

static gt_fn void gt_publish_maker(u64 round)
{
	struct gt_publish *object = kmalloc(sizeof(*object), GFP_KERNEL);

	if (!object)
		return;
	object->made = round;
	object->used = 0;
	kfree(gt_publish_exchange(object));
}

static gt_fn void gt_publish_user(u64 round)
{
	struct gt_publish *object;

	spin_lock(&gt_publish_place.lock);
	object = gt_publish_place.object;
	if (object) {
		gt_use(object->made);
		object->used = round;
	}
	spin_unlock(&gt_publish_place.lock);
}

static void gt_publish_teardown(void)
{
	kfree(gt_publish_exchange(NULL));
}

const struct gt_case gt_case_publish = {
	.name = "publish",
	.group = "controls",
	.side = {{"maker", gt_publish_maker, 0}, {"user", gt_publish_user, 1}},
	.teardown = gt_publish_teardown,
};

/*
 * A lock protects a queue, and an entry of the queue belongs to the task that has taken it out. Both sides write to the entry,
 * and neither holds the lock then. The queue has room for one entry, so that it cannot fill the memory.
 */
struct gt_handover {
	struct list_head link;
	u64 payload;
};
static struct {
	spinlock_t lock;
	struct list_head list;
} gt_handover_queue gt_datum = {
	.lock = __SPIN_LOCK_UNLOCKED(gt_handover_queue.lock),
	.list = LIST_HEAD_INIT(gt_handover_queue.list),
};

static gt_fn void gt_handover_giver(u64 round)
{
	struct gt_handover *item = kmalloc(sizeof(*item), GFP_KERNEL);

	if (!item)
		return;
	item->payload = round;
	spin_lock(&gt_handover_queue.lock);
	if (list_empty(&gt_handover_queue.list)) {
		list_add_tail(&item->link, &gt_handover_queue.list);
		item = NULL;
	}
	spin_unlock(&gt_handover_queue.lock);
	kfree(item);
}

static gt_fn void gt_handover_taker(u64 round)
{
	struct gt_handover *item;

	spin_lock(&gt_handover_queue.lock);
	item = list_first_entry_or_null(&gt_handover_queue.list, struct gt_handover, link);
	if (item)
		list_del(&item->link);
	spin_unlock(&gt_handover_queue.lock);
	if (!item)
		return;
	item->payload += round;
	gt_use(item->payload);
	kfree(item);
}

static void gt_handover_teardown(void)
{
	gt_handover_taker(0);
}

const struct gt_case gt_case_handover = {
	.name = "handover",
	.group = "controls",
	.side = {{"giver", gt_handover_giver, 0}, {"taker", gt_handover_taker, 1}},
	.teardown = gt_handover_teardown,
};

/*
 * A writer holds the lock, and a reader is in an RCU section instead. As with the control rcu, the pointer is loaded and
 * stored plainly as far as machine code shows: that pair has functions of its own and is allowed in the manifest.
 */
struct gt_rculock {
	u64 value, updates;
	struct rcu_head head;
};
static struct {
	spinlock_t lock;
	struct gt_rculock __rcu *object;
} gt_rculock_place gt_datum = {.lock = __SPIN_LOCK_UNLOCKED(gt_rculock_place.lock)};

static gt_fn void gt_rculock_publish(struct gt_rculock *fresh)
{
	rcu_assign_pointer(gt_rculock_place.object, fresh);
}

static gt_fn struct gt_rculock *gt_rculock_fetch(void)
{
	return rcu_dereference(gt_rculock_place.object);
}

static gt_fn void gt_rculock_writer(u64 round)
{
	struct gt_rculock *fresh = kmalloc(sizeof(*fresh), GFP_KERNEL), *old;

	if (!fresh)
		return;
	spin_lock(&gt_rculock_place.lock);
	old = rcu_dereference_protected(gt_rculock_place.object, lockdep_is_held(&gt_rculock_place.lock));
	fresh->updates = old ? old->updates + 1 : 0;
	fresh->value = round;
	gt_rculock_publish(fresh);
	spin_unlock(&gt_rculock_place.lock);
	if (old)
		kfree_rcu(old, head);
}

static gt_fn void gt_rculock_reader(struct gt_rculock *object)
{
	gt_use(object->value);
	gt_use(object->updates);
}

static void gt_rculock_reader_step(u64 round)
{
	struct gt_rculock *object;

	rcu_read_lock();
	object = gt_rculock_fetch();
	if (object)
		gt_rculock_reader(object);
	rcu_read_unlock();
}

static void gt_rculock_teardown(void)
{
	kfree(rcu_dereference_protected(gt_rculock_place.object, true));
	gt_rculock_publish(NULL);
}

const struct gt_case gt_case_rculock = {
	.name = "rculock",
	.group = "controls",
	.side = {{"writer", gt_rculock_writer, 0}, {"reader", gt_rculock_reader_step, 1}},
	.teardown = gt_rculock_teardown,
};

/*
 * An object that two tasks hand over again and again. The task that has taken it out of the list writes to it without the lock.
 * While it is in the list, tasks read it under the lock.
 */
struct gt_pool {
	struct list_head link;
	u64 stamp;
};
static struct {
	spinlock_t lock;
	struct list_head list;
	struct gt_pool item;
} gt_pool_place gt_datum = {
	.lock = __SPIN_LOCK_UNLOCKED(gt_pool_place.lock),
	.list = LIST_HEAD_INIT(gt_pool_place.list),
};

static int gt_pool_setup(void)
{
	INIT_LIST_HEAD(&gt_pool_place.list);
	list_add_tail(&gt_pool_place.item.link, &gt_pool_place.list);
	return 0;
}

static gt_fn struct gt_pool *gt_pool_take(void)
{
	struct gt_pool *item;

	spin_lock(&gt_pool_place.lock);
	item = list_first_entry_or_null(&gt_pool_place.list, struct gt_pool, link);
	if (item) {
		gt_use(item->stamp);
		list_del(&item->link);
	}
	spin_unlock(&gt_pool_place.lock);
	return item;
}

static gt_fn void gt_pool_use(struct gt_pool *item, u64 round)
{
	item->stamp = round;
}

static gt_fn void gt_pool_give(struct gt_pool *item)
{
	spin_lock(&gt_pool_place.lock);
	list_add_tail(&item->link, &gt_pool_place.list);
	spin_unlock(&gt_pool_place.lock);
}

static void gt_pool_step(u64 round)
{
	struct gt_pool *item = gt_pool_take();

	if (!item)
		return;
	gt_pool_use(item, round);
	gt_pool_give(item);
}

const struct gt_case gt_case_pool = {
	.name = "pool",
	.group = "controls",
	.side = {{"first", gt_pool_step, 0}, {"second", gt_pool_step, 1}},
	.setup = gt_pool_setup,
};

/* A flag under a lock says that the buffer has an owner. The owner uses the buffer without the lock, and another task reads it
 * under the lock while it has no owner. */
static struct {
	spinlock_t lock;
	bool owned;
	u64 buffer ____cacheline_aligned;
} gt_owner_place gt_datum = {.lock = __SPIN_LOCK_UNLOCKED(gt_owner_place.lock)};

static gt_fn bool gt_owner_begin(void)
{
	bool mine;

	spin_lock(&gt_owner_place.lock);
	mine = !gt_owner_place.owned;
	if (mine) {
		gt_use(gt_owner_place.buffer);
		gt_owner_place.owned = true;
	}
	spin_unlock(&gt_owner_place.lock);
	return mine;
}

static gt_fn void gt_owner_use(u64 round)
{
	gt_owner_place.buffer = round;
}

static gt_fn void gt_owner_end(void)
{
	spin_lock(&gt_owner_place.lock);
	gt_owner_place.owned = false;
	spin_unlock(&gt_owner_place.lock);
}

static void gt_owner_step(u64 round)
{
	if (!gt_owner_begin())
		return;
	gt_owner_use(round);
	gt_owner_end();
}

const struct gt_case gt_case_owner = {
	.name = "owner",
	.group = "controls",
	.side = {{"first", gt_owner_step, 0}, {"second", gt_owner_step, 1}},
};

/* Each CPU has its own counter. One task cannot be preempted because it holds an unrelated lock, the other task because it
 * calls preempt_disable(). */
static struct {
	spinlock_t lock;
	u64 counter[NR_CPUS];
} gt_samecpu gt_datum = {.lock = __SPIN_LOCK_UNLOCKED(gt_samecpu.lock)};

static gt_fn void gt_samecpu_locked(u64 round)
{
	spin_lock(&gt_samecpu.lock);
	gt_samecpu.counter[smp_processor_id()] = round;
	spin_unlock(&gt_samecpu.lock);
}

static gt_fn void gt_samecpu_bare(u64 round)
{
	preempt_disable();
	gt_samecpu.counter[smp_processor_id()] = ~round;
	preempt_enable();
}

const struct gt_case gt_case_samecpu = {
	.name = "samecpu",
	.group = "controls",
	.side = {{"locked", gt_samecpu_locked, 1}, {"bare", gt_samecpu_bare, 1}},
};

/*
 * The lock keeps the two apart, so there is no race. But the task takes the lock with interrupts on, and on one CPU the handler
 * would wait forever for the task that it has interrupted. The guest is safe, since the timer is pinned to the other CPU.
 */
static struct {
	spinlock_t lock;
	u32 events;
} gt_irqlock gt_datum = {.lock = __SPIN_LOCK_UNLOCKED(gt_irqlock.lock)};

static gt_fn void gt_irqlock_task(u64 round)
{
	spin_lock(&gt_irqlock.lock);
	gt_irqlock.events = 0;
	spin_unlock(&gt_irqlock.lock);
}

static gt_fn void gt_irqlock_timer(u64 round)
{
	spin_lock(&gt_irqlock.lock);
	gt_irqlock.events++;
	spin_unlock(&gt_irqlock.lock);
}

const struct gt_case gt_case_irqlock = {
	.name = "irqlock",
	.group = "controls",
	.side = {{"task", gt_irqlock_task, 0}, {"timer", gt_irqlock_timer, 1, GT_TIMER}},
};

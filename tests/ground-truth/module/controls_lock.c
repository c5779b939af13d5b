// SPDX-License-Identifier: GPL-2.0-or-later
/* Group "controls": one at a time, by a lock of each kind. */
#include <linux/bitops.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>

#include "gt.h"

struct gt_guarded {
	u64 sum;
	u32 last;
};

static __always_inline void gt_guarded_add(struct gt_guarded *g, u64 round)
{
	g->sum += round;
	g->last = round;
}

static __always_inline void gt_guarded_read(struct gt_guarded *g)
{
	gt_use(g->sum);
	gt_use(g->last);
}

static DEFINE_SPINLOCK(gt_spinlock_lock);
static struct gt_guarded gt_spinlock_data gt_datum;

static gt_fn void gt_spinlock_adder(u64 round)
{
	spin_lock(&gt_spinlock_lock);
	gt_guarded_add(&gt_spinlock_data, round);
	spin_unlock(&gt_spinlock_lock);
}

static gt_fn void gt_spinlock_reader(u64 round)
{
	spin_lock(&gt_spinlock_lock);
	gt_guarded_read(&gt_spinlock_data);
	spin_unlock(&gt_spinlock_lock);
}

const struct gt_case gt_case_spinlock = {
	.name = "spinlock",
	.group = "controls",
	.side = {{"adder", gt_spinlock_adder, 0}, {"reader", gt_spinlock_reader, 1}},
};

static DEFINE_MUTEX(gt_mutex_lock);
static struct gt_guarded gt_mutex_data gt_datum;

static gt_fn void gt_mutex_adder(u64 round)
{
	mutex_lock(&gt_mutex_lock);
	gt_guarded_add(&gt_mutex_data, round);
	mutex_unlock(&gt_mutex_lock);
}

static gt_fn void gt_mutex_reader(u64 round)
{
	mutex_lock(&gt_mutex_lock);
	gt_guarded_read(&gt_mutex_data);
	mutex_unlock(&gt_mutex_lock);
}

const struct gt_case gt_case_mutex = {
	.name = "mutex",
	.group = "controls",
	.side = {{"adder", gt_mutex_adder, 0}, {"reader", gt_mutex_reader, 1}},
};

static DECLARE_RWSEM(gt_rwsem_lock);
static struct gt_guarded gt_rwsem_data gt_datum;

static gt_fn void gt_rwsem_writer(u64 round)
{
	down_write(&gt_rwsem_lock);
	gt_guarded_add(&gt_rwsem_data, round);
	up_write(&gt_rwsem_lock);
}

static gt_fn void gt_rwsem_reader(u64 round)
{
	down_read(&gt_rwsem_lock);
	gt_guarded_read(&gt_rwsem_data);
	up_read(&gt_rwsem_lock);
}

const struct gt_case gt_case_rwsem = {
	.name = "rwsem",
	.group = "controls",
	.side = {{"writer", gt_rwsem_writer, 0}, {"reader", gt_rwsem_reader, 1}},
};

/* Atomics alone, used as a lock: one bit says which side owns the data. Both operations on the bit are LOCKed. */
static struct {
	atomic_t users;
	unsigned long busy;
} gt_atomics gt_datum;
static struct gt_guarded gt_atomics_data gt_datum;

static gt_fn void gt_atomics_adder(u64 round)
{
	atomic_inc(&gt_atomics.users);
	if (!test_and_set_bit_lock(0, &gt_atomics.busy)) {
		gt_guarded_add(&gt_atomics_data, round);
		clear_bit_unlock(0, &gt_atomics.busy);
	}
	atomic_dec(&gt_atomics.users);
}

static gt_fn void gt_atomics_reader(u64 round)
{
	gt_use(atomic_fetch_add(0, &gt_atomics.users));
	if (!test_and_set_bit_lock(0, &gt_atomics.busy)) {
		gt_guarded_read(&gt_atomics_data);
		clear_bit_unlock(0, &gt_atomics.busy);
	}
}

const struct gt_case gt_case_atomics = {
	.name = "atomics",
	.group = "controls",
	.side = {{"adder", gt_atomics_adder, 0}, {"reader", gt_atomics_reader, 1}},
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* Group "locking": one of the two sides breaks a locking rule. */
#include <linux/mutex.h>
#include <linux/spinlock.h>

#include "gt.h"

/*
 * DataCollider figure 4: both CPUs run the same function, whose two updates rewrite what is there already. Its first store can
 * undo the other CPU's second, so the bit that the barrier promises may be missing.
 */
#define GT_CACHE_NOT_DELETED 1u
#define GT_CACHE_CACHED 2u

static struct {
	u32 x;
} gt_addtocache_entry gt_datum;

static gt_fn void gt_addtocache(u64 round)
{
	gt_addtocache_entry.x &= ~GT_CACHE_NOT_DELETED;
	barrier(); /* two updates, as in the figure: merged, they would be one */
	gt_addtocache_entry.x |= GT_CACHE_CACHED;
	smp_mb();
}

const struct gt_case gt_case_addtocache = {
	.name = "addtocache",
	.group = "locking",
	.side = {{"one", gt_addtocache, 0}, {"other", gt_addtocache, 1}},
};

/* DILP figure 1 (rtl8723ae): the flag is set under the spinlock and tested without it. */
static struct {
	spinlock_t lock;
	bool rfchange_inprogress;
} gt_halflock gt_datum = {.lock = __SPIN_LOCK_UNLOCKED(gt_halflock.lock)};
static atomic_t gt_halflock_skipped gt_datum;

static gt_fn void gt_halflock_setter(u64 round)
{
	bool inprogress = round & 1;

	gt_use(inprogress); /* computed before the store, or the compiler computes it in the datum */
	spin_lock(&gt_halflock.lock);
	gt_halflock.rfchange_inprogress = inprogress;
	spin_unlock(&gt_halflock.lock);
}

static gt_fn void gt_halflock_watchdog(u64 round)
{
	if (gt_halflock.rfchange_inprogress)
		atomic_inc(&gt_halflock_skipped);
}

const struct gt_case gt_case_halflock = {
	.name = "halflock",
	.group = "locking",
	.side = {{"setter", gt_halflock_setter, 0}, {"watchdog", gt_halflock_watchdog, 1}},
};

/* DRDDR figure 6 (ext2): link and unlink hold the inode's lock while they count, rename does not. */
static struct gt_inode {
	struct mutex i_mutex;
	unsigned int i_nlink;
} gt_nlink_inode gt_datum = {.i_mutex = __MUTEX_INITIALIZER(gt_nlink_inode.i_mutex), .i_nlink = 1};

static gt_fn void gt_nlink_rename(u64 round)
{
	gt_nlink_inode.i_nlink++;
	barrier(); /* here rename moves the directory entry */
	gt_nlink_inode.i_nlink--;
}

static gt_fn void gt_nlink_link(u64 round)
{
	mutex_lock(&gt_nlink_inode.i_mutex);
	if (round & 1)
		gt_nlink_inode.i_nlink++;
	else
		gt_nlink_inode.i_nlink--;
	mutex_unlock(&gt_nlink_inode.i_mutex);
}

const struct gt_case gt_case_nlink = {
	.name = "nlink",
	.group = "locking",
	.side = {{"rename", gt_nlink_rename, 0}, {"link", gt_nlink_link, 1}},
};

/* DRDDR figure 5 (eCryptfs): the inode is unlocked as ready, and only then gets its size, over the size that a writer set. */
static struct {
	spinlock_t lock;
	unsigned long state;
	loff_t i_size;
} gt_latesize_inode gt_datum = {.lock = __SPIN_LOCK_UNLOCKED(gt_latesize_inode.lock)};

static gt_fn void gt_latesize_get_inode(u64 round)
{
	spin_lock(&gt_latesize_inode.lock);
	gt_latesize_inode.state = round;
	spin_unlock(&gt_latesize_inode.lock);
	gt_latesize_inode.i_size = round & 0xff;
}

static gt_fn void gt_latesize_write(u64 round)
{
	spin_lock(&gt_latesize_inode.lock);
	gt_latesize_inode.i_size = round | 0x100;
	spin_unlock(&gt_latesize_inode.lock);
}

const struct gt_case gt_case_latesize = {
	.name = "latesize",
	.group = "locking",
	.side = {{"get_inode", gt_latesize_get_inode, 0}, {"write", gt_latesize_write, 1}},
};

/* Replay paper, table 2, double checks: if (ready) is asked again under the lock. The value is only touched under it. */
static struct {
	spinlock_t lock;
	u32 ready;
	u32 value;
} gt_dclock gt_datum = {.lock = __SPIN_LOCK_UNLOCKED(gt_dclock.lock)};

static gt_fn void gt_dclock_user(u64 round)
{
	if (gt_dclock.ready)
		return;
	spin_lock(&gt_dclock.lock);
	if (!gt_dclock.ready) {
		gt_dclock.value = round;
		gt_dclock.ready = 1;
	}
	spin_unlock(&gt_dclock.lock);
}

static gt_fn void gt_dclock_reset(u64 round)
{
	spin_lock(&gt_dclock.lock);
	gt_dclock.ready = 0;
	spin_unlock(&gt_dclock.lock);
}

const struct gt_case gt_case_dclock = {
	.name = "dclock",
	.group = "locking",
	.side = {{"user", gt_dclock_user, 0}, {"reset", gt_dclock_reset, 1}},
};

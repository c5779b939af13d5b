// SPDX-License-Identifier: GPL-2.0-or-later
/* Group "unprotected": there are locks, but no lock that both sides hold. */
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "gt.h"

/*
 * DILP figure 1 (rtl8723ae), with the member next to the flag: the state beside the flag, in the same word of eight bytes, is
 * accessed under the lock by both sides. The watchdog takes the lock too late.
 */
struct gt_figone {
	spinlock_t rf_ps_lock;
	u32 watched;
	u32 rfpwr_state;
	bool rfchange_inprogress;
};
static struct gt_figone *gt_figone_ptr;

static int gt_figone_setup(void)
{
	gt_figone_ptr = kzalloc(L1_CACHE_BYTES, GFP_KERNEL);
	if (!gt_figone_ptr)
		return -ENOMEM;
	spin_lock_init(&gt_figone_ptr->rf_ps_lock);
	return 0;
}

static void gt_figone_teardown(void)
{
	kfree(gt_figone_ptr);
	gt_figone_ptr = NULL;
}

static gt_fn void gt_figone_set_rf_state(u64 round)
{
	struct gt_figone *ppsc = gt_figone_ptr;
	bool inprogress = round & 1;

	gt_use(inprogress); /* computed before the store, or the compiler computes it in the datum */
	spin_lock(&ppsc->rf_ps_lock);
	ppsc->rfchange_inprogress = inprogress;
	ppsc->rfpwr_state = round;
	spin_unlock(&ppsc->rf_ps_lock);
}

static gt_fn void gt_figone_watchdog(u64 round)
{
	struct gt_figone *ppsc = gt_figone_ptr;

	if (ppsc->rfchange_inprogress)
		return;
	spin_lock(&ppsc->rf_ps_lock);
	ppsc->watched = ppsc->rfpwr_state;
	spin_unlock(&ppsc->rf_ps_lock);
}

const struct gt_case gt_case_figone = {
	.name = "figone",
	.group = "unprotected",
	.side = {{"set_rf_state", gt_figone_set_rf_state, 0}, {"watchdog", gt_figone_watchdog, 1}},
	.setup = gt_figone_setup,
	.teardown = gt_figone_teardown,
};

/* Each side holds a lock, but not the same lock. */
static struct {
	struct mutex ioctl_lock;
	spinlock_t poll_lock;
	u32 mode;
} gt_twolocks gt_datum = {
	.ioctl_lock = __MUTEX_INITIALIZER(gt_twolocks.ioctl_lock),
	.poll_lock = __SPIN_LOCK_UNLOCKED(gt_twolocks.poll_lock),
};

static gt_fn void gt_twolocks_ioctl(u64 round)
{
	mutex_lock(&gt_twolocks.ioctl_lock);
	gt_twolocks.mode = round << 1;
	mutex_unlock(&gt_twolocks.ioctl_lock);
}

static gt_fn void gt_twolocks_poll(u64 round)
{
	spin_lock_bh(&gt_twolocks.poll_lock);
	gt_twolocks.mode = round << 1 | 1;
	spin_unlock_bh(&gt_twolocks.poll_lock);
}

const struct gt_case gt_case_twolocks = {
	.name = "twolocks",
	.group = "unprotected",
	.side = {{"ioctl", gt_twolocks_ioctl, 0}, {"poll", gt_twolocks_poll, 1}},
};

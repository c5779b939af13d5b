// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Data that is handed over by something that is no lock: a completion, a work item, a timer. One side always holds a mutex that
 * the other side never takes, so that the locks alone look wrong. The cases of group "controls" hand over rightly. Those of
 * group "handed" make one access too late, after the hand-over.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/timer.h>
#include <linux/version.h>
#include <linux/workqueue.h>

#include "gt.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define timer_delete_sync del_timer_sync
#endif

/* A side that is busy must end when the other side has ended. */
#define GT_HANDED_WAIT (HZ / 50)
/* What gets the other CPU's timer tick and softirq done, at 100 Hz as well. */
#define GT_HANDED_TICK_US 15000

/*
 * Changes the data slowly, with a call in the middle, so that the function has a frame: most work functions have one. The late
 * accesses compute something that is no sum, because data to which all sides only add are a statistic.
 */
#define gt_handed_change(data, n)             \
	({                                    \
		u64 _before = (data);         \
		udelay(1);                    \
		(data) = (_before ^ (n)) * 3; \
	})

/* The side on the CPU where the work item or the timer runs. */
static void harness_idle(u64 round)
{
}

/* ---- completion ---- */

struct gt_handed_done {
	struct mutex lock;
	struct completion full, empty;
	u64 data ____cacheline_aligned;
};

static void gt_handed_done_setup(struct gt_handed_done *d)
{
	mutex_init(&d->lock);
	init_completion(&d->full);
	init_completion(&d->empty);
	complete(&d->empty);
}

static struct gt_handed_done gt_handdone_place gt_datum;

static gt_fn void gt_handdone_giver(u64 round)
{
	mutex_lock(&gt_handdone_place.lock);
	if (wait_for_completion_timeout(&gt_handdone_place.empty, GT_HANDED_WAIT)) {
		gt_handdone_place.data += round;
		complete(&gt_handdone_place.full);
	}
	mutex_unlock(&gt_handdone_place.lock);
}

static gt_fn void gt_handdone_taker(u64 round)
{
	if (!wait_for_completion_timeout(&gt_handdone_place.full, GT_HANDED_WAIT))
		return;
	gt_handdone_place.data -= round;
	complete(&gt_handdone_place.empty);
}

static int gt_handdone_setup(void)
{
	gt_handed_done_setup(&gt_handdone_place);
	return 0;
}

const struct gt_case gt_case_handdone = {
	.name = "handdone",
	.group = "controls",
	.side = {{"giver", gt_handdone_giver, 0}, {"taker", gt_handdone_taker, 1}},
	.setup = gt_handdone_setup,
};

static struct gt_handed_done gt_latedone_place gt_datum;

static gt_fn void gt_latedone_giver(u64 round)
{
	mutex_lock(&gt_latedone_place.lock);
	if (wait_for_completion_timeout(&gt_latedone_place.empty, GT_HANDED_WAIT)) {
		gt_latedone_place.data ^= round;
		complete(&gt_latedone_place.full);
	}
	mutex_unlock(&gt_latedone_place.lock);
}

/* The data are given back before the last access to them. */
static gt_fn void gt_latedone_taker(u64 round)
{
	if (!wait_for_completion_timeout(&gt_latedone_place.full, GT_HANDED_WAIT))
		return;
	complete(&gt_latedone_place.empty);
	gt_latedone_place.data ^= round;
}

static int gt_latedone_setup(void)
{
	gt_handed_done_setup(&gt_latedone_place);
	return 0;
}

const struct gt_case gt_case_latedone = {
	.name = "latedone",
	.group = "handed",
	.side = {{"giver", gt_latedone_giver, 0}, {"taker", gt_latedone_taker, 1}},
	.setup = gt_latedone_setup,
};

/* ---- work item ---- */

static struct {
	struct mutex lock;
	u64 data ____cacheline_aligned;
} gt_handwork_place gt_datum = {.lock = __MUTEX_INITIALIZER(gt_handwork_place.lock)};

static gt_fn void gt_handwork_worker(struct work_struct *work)
{
	gt_handed_change(gt_handwork_place.data, 2);
}
static DECLARE_WORK(gt_handwork_item, gt_handwork_worker);

static gt_fn void gt_handwork_queuer(u64 round)
{
	mutex_lock(&gt_handwork_place.lock);
	gt_handwork_place.data += round;
	queue_work_on(1, system_highpri_wq, &gt_handwork_item);
	flush_work(&gt_handwork_item);
	gt_use(gt_handwork_place.data);
	mutex_unlock(&gt_handwork_place.lock);
}

const struct gt_case gt_case_handwork = {
	.name = "handwork",
	.group = "controls",
	.side = {{"queuer", gt_handwork_queuer, 0}, {"idle", harness_idle, 1}},
};

static struct {
	struct mutex lock;
	u64 data ____cacheline_aligned;
} gt_latework_place gt_datum = {.lock = __MUTEX_INITIALIZER(gt_latework_place.lock)};

static gt_fn void gt_latework_worker(struct work_struct *work)
{
	gt_handed_change(gt_latework_place.data, 2);
}
static DECLARE_WORK(gt_latework_item, gt_latework_worker);

/* The data are accessed while the work may run. */
static gt_fn void gt_latework_queuer(u64 round)
{
	mutex_lock(&gt_latework_place.lock);
	queue_work_on(1, system_highpri_wq, &gt_latework_item);
	gt_latework_place.data ^= round;
	flush_work(&gt_latework_item);
	mutex_unlock(&gt_latework_place.lock);
}

const struct gt_case gt_case_latework = {
	.name = "latework",
	.group = "handed",
	.side = {{"queuer", gt_latework_queuer, 0}, {"idle", harness_idle, 1}},
};

/* ---- timer ---- */

/*
 * The timers expire at 0, which is always past: jiffies would be a plain load of what the kernel changes. They fire with the
 * next tick of CPU 1.
 */
static struct {
	struct mutex lock;
	u64 data ____cacheline_aligned;
} gt_handtimer_place gt_datum = {.lock = __MUTEX_INITIALIZER(gt_handtimer_place.lock)};

static gt_fn void gt_handtimer_fire(struct timer_list *timer)
{
	gt_handed_change(gt_handtimer_place.data, 2);
}
static DEFINE_TIMER(gt_handtimer_timer, gt_handtimer_fire);

static gt_fn void gt_handtimer_starter(u64 round)
{
	mutex_lock(&gt_handtimer_place.lock);
	gt_handtimer_place.data += round;
	add_timer_on(&gt_handtimer_timer, 1);
	usleep_range(GT_HANDED_TICK_US, 2 * GT_HANDED_TICK_US);
	timer_delete_sync(&gt_handtimer_timer);
	gt_use(gt_handtimer_place.data);
	mutex_unlock(&gt_handtimer_place.lock);
}

const struct gt_case gt_case_handtimer = {
	.name = "handtimer",
	.group = "controls",
	.side = {{"starter", gt_handtimer_starter, 0}, {"idle", harness_idle, 1}},
};

static struct {
	struct mutex lock;
	u64 data ____cacheline_aligned;
} gt_latetimer_place gt_datum = {.lock = __MUTEX_INITIALIZER(gt_latetimer_place.lock)};

static gt_fn void gt_latetimer_fire(struct timer_list *timer)
{
	gt_handed_change(gt_latetimer_place.data, 2);
}
static DEFINE_TIMER(gt_latetimer_timer, gt_latetimer_fire);

/* The data are accessed while the timer may fire. */
static gt_fn void gt_latetimer_starter(u64 round)
{
	mutex_lock(&gt_latetimer_place.lock);
	add_timer_on(&gt_latetimer_timer, 1);
	gt_latetimer_place.data ^= round;
	usleep_range(GT_HANDED_TICK_US, 2 * GT_HANDED_TICK_US);
	timer_delete_sync(&gt_latetimer_timer);
	mutex_unlock(&gt_latetimer_place.lock);
}

const struct gt_case gt_case_latetimer = {
	.name = "latetimer",
	.group = "handed",
	.side = {{"starter", gt_latetimer_starter, 0}, {"idle", harness_idle, 1}},
};

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the two sides of a case. The threads of a run share only its round counters, which LOCKed instructions access; the rest
 * of struct gt_run is written while neither side exists.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/version.h>

#include "gt.h"

/* 100 us a round: thousands a second, yet only some thousand instructions of an emulated CPU. */
static unsigned int pace_us = 100;
module_param(pace_us, uint, 0444);
MODULE_PARM_DESC(pace_us, "microseconds between two rounds of a side that is a task");

/*
 * Two sides that spin keep two threads of an emulator busy, which share the CPUs of its host with outrider. A short sleep leaves more rounds than
 * the host can sample. It is not the default: in a guest of a lab, a sleep costs several VM exits, and more CPU time than the spinning.
 */
static unsigned int sleep_us;
module_param(sleep_us, uint, 0444);
MODULE_PARM_DESC(sleep_us, "microseconds that a side that is a task sleeps between two rounds, instead of spinning for pace_us");

/* An interrupt costs an emulated guest hundreds of times what a round of a task does. */
static unsigned int timer_us = 1000;
module_param(timer_us, uint, 0444);
MODULE_PARM_DESC(timer_us, "microseconds between two rounds of a side that is a timer interrupt");

#define ROUNDS_PER_NAP 32

struct gt_side_run {
	const struct gt_side *side;
	struct task_struct *task;
	struct hrtimer timer;
	bool once; /* the timer fires once for each start */
	atomic64_t rounds ____cacheline_aligned;
};

static struct gt_side_run gt_runs[GT_MAX_CASES][2];
static bool gt_prepared[GT_MAX_CASES]; /* harness_step_case() may be called */

void harness_pause(void)
{
	udelay(clamp(pace_us, 1u, 1000u));
}

bool harness_wait(struct completion *done)
{
	while (!wait_for_completion_timeout(done, HZ / 10))
		if (!(current->flags & PF_KTHREAD) || kthread_should_stop())
			return false;
	return true;
}

static ktime_t timer_period(void)
{
	return ns_to_ktime(clamp(timer_us, 100u, 1000000u) * (u64)NSEC_PER_USEC);
}

static int harness_task_loop(void *data)
{
	struct gt_side_run *run = data;

	while (!kthread_should_stop()) {
		u64 round = atomic64_inc_return(&run->rounds);

		run->side->step(round);
		if (sleep_us) {
			usleep_range(min(sleep_us, 1000u), 2 * min(sleep_us, 1000u));
			continue;
		}
		harness_pause();
		cond_resched();
		/* A kthread that never sleeps would hold up RCU-tasks and everything of a lower priority. */
		if (round % ROUNDS_PER_NAP == 0)
			usleep_range(200, 400);
	}
	return 0;
}

static enum hrtimer_restart harness_timer_fire(struct hrtimer *timer)
{
	struct gt_side_run *run = container_of(timer, struct gt_side_run, timer);

	run->side->step(atomic64_inc_return(&run->rounds));
	if (run->once)
		return HRTIMER_NORESTART;
	/*
	 * From now, not from the last expiry, so that a slow guest fires less often instead of never leaving the interrupt. The
	 * inline hrtimer_forward_now() would read timer->base here with a plain load.
	 */
	hrtimer_forward(timer, ktime_get(), timer_period());
	return HRTIMER_RESTART;
}

/* A pinned timer fires on the CPU that started it: this thread is there to be on that CPU. */
static int harness_timer_loop(void *data)
{
	struct gt_side_run *run = data;

	hrtimer_start(&run->timer, timer_period(), HRTIMER_MODE_REL_PINNED_HARD);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 20);
	hrtimer_cancel(&run->timer);
	return 0;
}

static void harness_timer_setup(struct hrtimer *timer)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, harness_timer_fire, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer->function = harness_timer_fire;
#endif
}

static int harness_side_start(struct gt_side_run *run, const struct gt_case *c, unsigned int i)
{
	const struct gt_side *side = &c->side[i];
	struct task_struct *task;

	run->side = side;
	run->once = false;
	atomic64_set(&run->rounds, 0);
	if (side->context == GT_TIMER)
		harness_timer_setup(&run->timer);
	task = kthread_create(side->context == GT_TIMER ? harness_timer_loop : harness_task_loop, run, "gt/%s/%s", c->name,
			      side->name);
	if (IS_ERR(task))
		return PTR_ERR(task);
	kthread_bind(task, side->cpu);
	set_user_nice(task, MAX_NICE);
	run->task = task;
	wake_up_process(task);
	return 0;
}

static void harness_side_stop(struct gt_side_run *run)
{
	if (run->task)
		kthread_stop(run->task);
	run->task = NULL;
}

int harness_start(unsigned int index)
{
	const struct gt_case *c = gt_all_cases[index];
	struct gt_side_run *run = gt_runs[index];
	int rc;

	if (harness_running(index))
		return -EBUSY;
	if (!cpu_online(c->side[0].cpu) || !cpu_online(c->side[1].cpu))
		return -ENODEV;
	rc = c->setup ? c->setup() : 0;
	if (rc)
		return rc;
	rc = harness_side_start(&run[0], c, 0);
	if (!rc)
		rc = harness_side_start(&run[1], c, 1);
	if (rc) {
		harness_side_stop(&run[0]);
		if (c->teardown)
			c->teardown();
	}
	return rc;
}

int harness_prepare_case(unsigned int index)
{
	const struct gt_case *c = gt_all_cases[index];
	struct gt_side_run *run = gt_runs[index];
	unsigned int i;
	int rc;

	if (harness_running(index))
		return -EBUSY;
	rc = c->setup ? c->setup() : 0;
	for (i = 0; i < 2; i++) {
		run[i].side = &c->side[i];
		run[i].once = true;
		atomic64_set(&run[i].rounds, 0);
		if (c->side[i].context == GT_TIMER)
			harness_timer_setup(&run[i].timer);
	}
	gt_prepared[index] = !rc;
	return rc;
}

/* One timer interrupt on the caller's CPU. The caller sleeps meanwhile, so that the interrupt does not come in its system call. */
static void harness_step_timer(struct gt_side_run *run)
{
	u64 before = gt_locked_read(&run->rounds);

	hrtimer_start(&run->timer, timer_period(), HRTIMER_MODE_REL_PINNED_HARD);
	while (gt_locked_read(&run->rounds) == before)
		usleep_range(1000, 2000);
	hrtimer_cancel(&run->timer);
}

int harness_step_case(unsigned int index, unsigned int side)
{
	struct gt_side_run *run = &gt_runs[index][side];

	if (!gt_prepared[index])
		return -EINVAL;
	if (run->side->context == GT_TIMER)
		harness_step_timer(run);
	else
		run->side->step(atomic64_inc_return(&run->rounds));
	return 0;
}

void harness_stop(unsigned int index)
{
	const struct gt_case *c = gt_all_cases[index];
	struct gt_side_run *run = gt_runs[index];

	if (!harness_running(index))
		return;
	gt_prepared[index] = false;
	harness_side_stop(&run[0]);
	harness_side_stop(&run[1]);
	if (c->teardown)
		c->teardown();
}

bool harness_running(unsigned int index)
{
	return gt_runs[index][0].task || gt_prepared[index];
}

u64 harness_rounds(unsigned int index, unsigned int side)
{
	return gt_locked_read(&gt_runs[index][side].rounds);
}

static int __init harness_init(void)
{
	return harness_proc_init();
}

static void __exit harness_exit(void)
{
	unsigned int i;

	harness_proc_exit();
	for (i = 0; gt_all_cases[i]; i++)
		harness_stop(i);
}

module_init(harness_init);
module_exit(harness_exit);
MODULE_DESCRIPTION("Outrider's ground truth: known data races, and code that must never be reported");
MODULE_LICENSE("GPL");

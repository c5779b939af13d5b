/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes the target's lock, and decides when to stop the machine, and for how long.
 *
 * Each stop by itself costs a fraction of a millisecond. So the machine is not resumed after each request: the serving thread
 * waits LINGER_NS for another request, until the machine has stood still for SLICE_NS. The machine is not stopped again before
 * the guest has had its share of time. target_enter() does not stop the machine. The first operation after it stops the machine
 * if the operation needs that.
 */
#include <time.h>
#include <unistd.h>

#include "hv/target/gdb/internal.h"

#define LINGER_NS 100000u
#define SLICE_NS 4000000u
#define NAP_NS 1000000u	  /* How often a waiting thread checks the guest's share of time. */
#define HOLD_NS 50000000u /* ns: longest wait of gdb_enter() for a moment in which no CPU is held */

/* ---- the lock ---- */

/* Returns true if the calling thread holds the lock. */
static bool mine(struct gdb_target *gt)
{
	return atomic_load(&gt->owned) && pthread_equal(atomic_load(&gt->owner), pthread_self());
}

void gdb_lock(struct gdb_target *gt)
{
	if (!mine(gt)) {
		pthread_mutex_lock(&gt->lock);
		atomic_store(&gt->owner, pthread_self());
		atomic_store(&gt->owned, true);
	}
	gt->depth++;
}

void gdb_unlock(struct gdb_target *gt)
{
	if (gt->depth == 1 && gt->stopped && rsp_flush(gt->rsp))
		gdb_over(gt); /* The stub may not have removed points that it was asked to remove: end the session. */
	if (--gt->depth)
		return;
	atomic_store(&gt->owned, false);
	pthread_mutex_unlock(&gt->lock);
}

void gdb_wake(struct gdb_target *gt)
{
	uint64_t one = 1;

	/*
	 * The write fails if the eventfd's counter is full, but then the serving thread has not read an earlier wake-up yet,
	 * and wakes up for that.
	 */
	(void)!write(gt->wake_fd, &one, sizeof(one));
}

/* ---- stop and go ---- */

/* Returns the number of held CPUs. */
static unsigned held(const struct gdb_target *gt)
{
	unsigned n = 0;

	for (unsigned c = 0; c < gt->target.caps.cpus; c++)
		n += gt->holds[c].active;
	return n;
}

void gdb_account(struct gdb_target *gt)
{
	struct allowance *b = &gt->budget;
	uint64_t now = monotonic_ns(), passed = now - b->last_ns;

	if (gt->stopped) {
		allowance_spend(b, (double)passed);
		gt->paused_ns += passed;
	}
	allowance_earn(b, now);
	gt->lost_ns += passed * (gt->stopped ? gt->target.caps.cpus : held(gt));
}

void gdb_over(struct gdb_target *gt)
{
	pthread_mutex_lock(&gt->end_lock);
	atomic_store(&gt->target.over, true);
	pthread_cond_broadcast(&gt->ended);
	pthread_mutex_unlock(&gt->end_lock);
}

void gdb_paused(struct gdb_target *gt)
{
	pthread_mutex_lock(&gt->end_lock);
	atomic_store(&gt->foreign, true);
	pthread_cond_broadcast(&gt->ended);
	pthread_mutex_unlock(&gt->end_lock);
}

int gdb_stop(struct gdb_target *gt)
{
	struct rsp_stop stop;

	if (gt->stopped)
		return 0;
	if (atomic_load(&gt->target.over))
		return -1;
	gt->kicks++;
	if (rsp_interrupt(gt->rsp) || rsp_wait(gt->rsp, RSP_PATIENCE_NS, &stop) <= 0) {
		gdb_over(gt);
		return -1;
	}
	gdb_account(gt);
	gt->stopped = true;
	gt->stops++;
	gt->stopped_ns = monotonic_ns();
	gt->have_event = stop.kind != RSP_STOP_OTHER;
	gt->event = stop;
	return 0;
}

/* ---- from outside a callback ---- */

/* Wait until the guest has had its share of time, then take the lock. */
static void lock_in_time(struct gdb_target *gt)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	uint64_t began = monotonic_ns();

	for (;;) {
		bool now, over;

		gdb_lock(gt);
		gdb_account(gt);
		over = atomic_load(&gt->target.over);
		/*
		 * Stopping the machine can make QEMU forget a stop that a CPU has not reported yet. So do not stop the machine
		 * while a window is open.
		 */
		now = gt->budget.credit_ns >= 0 && (gt->stopped || !held(gt) || monotonic_ns() - began > HOLD_NS);
		/* Once the connection is lost, no thread delivers events: do not wait for that. */
		if (over || ((now || atomic_load(&gt->ending)) && !(gt->stopped && gt->have_event)))
			return;
		gdb_unlock(gt);
		nanosleep(&nap, NULL);
	}
}

void gdb_enter(struct target *t)
{
	struct gdb_target *gt = gdb_target(t);

	if (mine(gt))
		gdb_lock(gt);
	else
		lock_in_time(gt);
}

/*
 * Stop the machine, and return with the lock held, so that the serving thread delivers nothing meanwhile. gdb_leave() lets the
 * machine continue.
 */
int gdb_stand_still(struct target *t)
{
	gdb_enter(t);
	if (gdb_stop(gdb_target(t)) == 0)
		return 0;
	gdb_leave(t);
	return -1;
}

void gdb_leave(struct target *t)
{
	struct gdb_target *gt = gdb_target(t);
	uint64_t now;

	if (gt->depth > 1) {
		gdb_unlock(gt);
		return;
	}
	now = monotonic_ns();
	gdb_account(gt);
	if (!gt->stopped) {
		gt->linger_ns = 0;
	} else if (gt->have_event || now - gt->stopped_ns > SLICE_NS || gt->budget.credit_ns < 0) {
		gt->linger_ns = 0;
		gdb_wake(gt);
	} else {
		bool lingers = gt->linger_ns != 0;

		gt->linger_ns = now + LINGER_NS;
		/* If linger_ns was set before, the serving thread wakes up at the old time, and then sees the new time. */
		if (!lingers)
			gdb_wake(gt);
	}
	gdb_unlock(gt);
}

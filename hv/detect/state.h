/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct detect, shared by the files of hv/detect only.
 *
 * The way of one piece of data: stops.c (a CPU stopped, or a device accesses memory) -> window.c (a window opens, and a
 * conflict closes it) -> capture.c (both sides are copied into an observation, which is queued) -> reporter.c (on another
 * thread: attributes the access, names it, and calls the sink).
 *
 * There is one lock, d->lock. It guards points, windows, the queue of observations and the counts. It is held for bounded work
 * only: arithmetic, a few reads of guest memory, one copy of a stack. It is never held while waiting for a CPU.
 */
#ifndef OUTRIDER_DETECT_STATE_H
#define OUTRIDER_DETECT_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "hv/base/rng.h"
#include "hv/detect/access.h"
#include "hv/detect/config.h"
#include "hv/detect/point.h"
#include "hv/detect/queue.h"
#include "hv/guest/guest.h"
#include "hv/race/coverage.h"
#include "hv/race/stats.h"
#include "hv/target/target.h"

#define MAX_SAMPLE_POINTS 65520u
#define MAX_EVENT_POINTS 4096u
/* How many of the sites that CPUs passed are kept until the sampler looks. It looks every few ms. */
#define PASSED_KEPT 256u

struct pool;
struct aiming;
struct proving;
struct locks;
struct meeter;

/* A window: one CPU is held before one access, and its memory is watched (DataCollider, section 3.2). */
struct window {
	bool open;
	/* It was looked whether any other CPU makes progress. */
	bool looked;
	/* The other CPUs were asked who changed the memory. */
	bool asked;
	/* How often not all of them had answered in time. */
	unsigned not_told;
	/* How many accesses of others were carried out in their place, so that they passed its point. */
	unsigned passes;
	/* The CPU that is held. */
	unsigned cpu;
	/* The CPU's registers at the hit. RIP and RSP tell the held context when it comes back to its INT3. */
	struct x86_regs regs;
	struct guest_context context;
	/* When the window was opened (CLOCK_MONOTONIC), and for how long at most it stays open. */
	uint64_t opened_ns, hold_ns;
	/* When its watches were in force, or where it has none, when it was open (CLOCK_MONOTONIC). 0: not yet. */
	uint64_t watched_ns;
	struct point *point;
	struct datum data[INSN_MAX_MEM];
	unsigned data_count;
};

/* Two CPUs before conflicting accesses, of which the first is held in a window, and the second at a point: see meet.h. */
struct meet {
	bool under_way;
	/* Counts the meetings, and the last one that the thread has looked at. */
	uint64_t number, looked_at;
	/* When it began, and when it is given up (CLOCK_MONOTONIC). */
	uint64_t began_ns, deadline_ns;
	struct window *window;
	/* The second CPU, and where it is held. */
	unsigned cpu;
	struct x86_regs regs;
	struct guest_context context;
	struct point *point;
	/* The accesses of both. */
	struct datum data[2];
};

struct detect {
	struct target *target;
	struct guest *guest;
	struct detect_config config;
	struct detect_sink sink;
	struct target_client client;

	/* Guards everything from here to `queued`. */
	pthread_mutex_t lock;
	struct points points;
	/* How many of the points are event points, not sample points. */
	unsigned event_points;
	/* Indexed by the CPU that is held. */
	struct window windows[TARGET_MAX_CPUS];
	unsigned open_windows;
	struct meet meet;
	/* Until this time (CLOCK_MONOTONIC) no meeting is begun in which a CPU has interrupts off. */
	uint64_t irqs_off_meet_rest;
	/* The thread for meetings. NULL: nobody wants them. */
	struct meeter *meeter;
	/* Until this time (CLOCK_MONOTONIC) the CPU of this index is not held with interrupts off again. */
	uint64_t irqs_off_rest[TARGET_MAX_CPUS];
	/* With config.overhead: how much CPU time windows may still take, in ns, as the sampler last found less what was taken
	 * since. */
	double credit_ns;
	/* How many hits came while there was none. */
	uint64_t refused_hits;
	/* target_stats.lost_ns when the sampler last looked. */
	uint64_t lost_ns;
	/* The watch slots in use, as a bit mask. */
	unsigned slots_used;
	uint32_t last_cookie;
	/* A point that is aimed at was hit, so others are due at once. */
	bool used_up;
	/* No windows are opened and no points are planted any more: the detector is on its way out. */
	bool closing;
	struct rng delay_rng;
	/* Pairs of sites to aim at beside all else. */
	struct proving *proving;
	/* Follows locks. NULL: nobody asked for it. */
	struct locks *locks;
	/* A moment waits for the thread that follows locks, or this thread is to end. */
	pthread_cond_t lock_moment;
	struct detect_stats stats;
	/* The target's counts when the first point was armed. */
	struct target_stats stats_before;
	/* When the first point was armed (CLOCK_MONOTONIC); 0: none was yet. */
	_Atomic uint64_t started_ns;
	/* When detect_stop() was called (CLOCK_MONOTONIC); 0: it was not yet. */
	uint64_t ended_ns;
	/* The reporter is to end when no observation waits. */
	bool reporter_stop;
	/* The GVAs of the sample points that CPUs passed last: the latest is at (stats.passed - 1) % PASSED_KEPT. */
	uint64_t passed[PASSED_KEPT];
	struct observation_queue observations;
	/* An observation waits, or the reporter is to end. */
	pthread_cond_t queued;

	/* The following up to `wanted` belong to the sampler's thread. */
	struct pool *pool;
	struct rng choice_rng;
	/* Of the choices among functions that the guest was seen to run. */
	struct rng again_rng;
	struct insn_decoder *decoder;
	/* config.prefer has weights of sites for this guest's kernel. */
	bool sites_preferred;
	/* The sites of config.aim in this guest. NULL without it. */
	struct aiming *aiming;
	/* How many points to keep armed: DataCollider's k. */
	uint32_t wanted;

	/* What was sampled of each site. The counts in it are guarded by d->lock. NULL: nobody asked for it. */
	struct coverage *coverage;
	/* How many sites the pool has. */
	_Atomic uint64_t site_count;
	/* Wakes the sampler early: to end, or because `used_up` was set. */
	pthread_cond_t tick;
	/* The sampler is to end. */
	atomic_bool stop;

	/* The following belong to the caller of detect_start() and detect_stop(). */
	pthread_t sampler, reporter, lock_follower;
	bool sampler_started, reporter_started, lock_follower_started;
};

/*
 * Take d->lock outside of the target's callbacks. Points can be planted and memory can be read under it on every target. In a
 * callback, where the target is entered already, take d->lock alone.
 */
static inline void detect_enter(struct detect *d)
{
	target_enter(d->target);
	pthread_mutex_lock(&d->lock);
}

static inline void detect_leave(struct detect *d)
{
	pthread_mutex_unlock(&d->lock);
	target_leave(d->target);
}

#endif

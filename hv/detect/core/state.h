/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct detect, shared by the files of hv/detect only: what all of them share, the hit path (hit_path.h), the sampler, and the
 * life cycle.
 *
 * One observation passes through these files: stops.c (a CPU stops, or a device accesses memory) -> window.c (opens a window;
 * when a conflict comes, closes the window and queues an observation) -> capture.c (copies a side into the observation) ->
 * reporter.c (on the reporter's thread: finds the instruction that made the access, names it, and calls the sink).
 *
 * There is one lock, d->lock. It guards points, windows, the queue of observations and the counts. A thread holds it for
 * bounded work only: arithmetic, a few reads of guest memory, one copy of a stack. The only exception is sink.rendezvous(),
 * which copies the machine under d->lock. No thread waits for a CPU while it holds d->lock.
 */
#ifndef OUTRIDER_DETECT_CORE_STATE_H
#define OUTRIDER_DETECT_CORE_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "hv/base/rng.h"
#include "hv/detect/core/config.h"
#include "hv/detect/core/hit_path.h"
#include "hv/detect/core/point.h"
#include "hv/guest/guest.h"
#include "hv/race/coverage.h"
#include "hv/race/stats.h"
#include "hv/target/target.h"

#define MAX_SAMPLE_POINTS 65520u
#define MAX_HOOKS 4096u

struct pool;
struct target_sites;
struct confirmer;
struct callees;
struct locks;

/* What the sampler's thread works with. Only that thread uses it, except for the members that say otherwise. */
struct sampler {
	struct pool *pool;
	struct rng choice_rng;
	/* Random numbers for choosing among functions that the guest was seen to run. Own sequence: see detect_new(). */
	struct rng again_rng;
	struct insn_decoder *decoder;
	/* config.prefer's weights of single sites apply, because they were made with this guest's kernel. */
	bool sites_preferred;
	/*
	 * The sites of config.known_races in this guest. NULL without config.known_races. Set by detect_new(); other threads
	 * only compare it with NULL.
	 */
	struct target_sites *target_sites;
	/* How many sample points to keep armed: DataCollider's k. */
	uint32_t wanted;
	/* When to write the hooks again (CLOCK_MONOTONIC, ns; lock_hooks_again()). 0: not planned. */
	uint64_t hooks_again_ns;
	/* More hooks were planted since hooks_again_ns was set: after that time, write the hooks one more time. */
	bool hooks_again_more;
	/* Hooks at calls of lock functions were planted, and some may be missed: forget the locksets at hooks_again_ns. */
	bool forget_locks;
	/* Number of sites in the pool. Any thread. */
	_Atomic uint64_t site_count;
	/* lost_ns and still_ns of target_stats, as the sampler's thread last read them (rate_step()). Guarded by d->lock. */
	uint64_t lost_ns, still_ns;
	/* A CPU hit a target site: run the sampler at once, to arm that site or the race's other site. Guarded by d->lock. */
	bool used_up;
	/* Wakes the sampler's thread before its next iteration is due: life.stop or `used_up` was set. */
	pthread_cond_t tick;
	/*
	 * When the last poll began after which all modules of the guest were known (CLOCK_MONOTONIC, ns). 0: there was none.
	 * Guarded by d->lock.
	 */
	uint64_t modules_known_ns;
	/* Signalled after each poll of the modules. */
	pthread_cond_t modules_polled;
};

/* Start and end of the detector, and its threads. */
struct life_cycle {
	/* The target's counts when the first sample point was armed. Guarded by d->lock. */
	struct target_stats stats_before;
	/* When the first sample point was armed (CLOCK_MONOTONIC, ns). 0: none was armed yet. */
	_Atomic uint64_t started_ns;
	/* When the sampler's first try to arm sample points was over (CLOCK_MONOTONIC, ns). 0: not yet. */
	_Atomic uint64_t ready_ns;
	/* When detect_stop() was called (CLOCK_MONOTONIC, ns). 0: not yet. Guarded by d->lock. */
	uint64_t ended_ns;
	/* The sampler is to end. */
	atomic_bool stop;
	/* Open no window and plant no point any more: detect_stop() is taking all points out. Guarded by d->lock. */
	bool closing;
	/* The reporter is to end when the queue of observations is empty. Guarded by d->lock. */
	bool reporter_stop;
	/* The sink was told that the guest's log can be read. Used only by the reporter's thread. */
	bool log_read;
	/* Used only by the caller of detect_start() and detect_stop(). */
	pthread_t sampler, reporter, lock_follower;
	bool sampler_started, reporter_started, lock_follower_started;
};

struct detect {
	/* Set by detect_new(). */
	struct target *target;
	struct guest *guest;
	struct detect_config config;
	struct detect_sink sink;
	struct target_client client;

	/* Guards everything from here to `coverage`, and those members of struct sampler and struct life_cycle that say so. */
	pthread_mutex_t lock;
	struct points points;
	/* How many of the points are hooks. All other points are sample points. */
	unsigned hooks;
	struct hit_path hit;
	/* Pairs of sites to confirm, sampled beside all other sites. */
	struct confirmer *confirmer;
	/* Follows locks. NULL without config.locks. */
	struct locks *locks;
	/*
	 * The functions that the sampled functions call. Belongs to the sampler's thread, except that callees_for_subject() is
	 * called under the lock. NULL without config.callee_depth.
	 */
	struct callees *callees;
	/* Signalled when a lock moment waits for the thread that follows locks, or when that thread is to end. */
	pthread_cond_t lock_moment;
	struct detect_stats stats;
	/*
	 * How often each site was armed and hit (detect_coverage()). d->lock guards the counts. NULL without config.coverage.
	 */
	struct coverage *coverage;

	struct sampler sampler;
	struct life_cycle life;
};

/*
 * Lock the target, then d->lock, outside of the target's callbacks. Under both locks a caller can plant points and read guest
 * memory on every kind of target. In a callback the target is locked already: take d->lock alone.
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct detect, shared by the files of hv/detect only.
 *
 * One observation passes through these files: stops.c (a CPU stops, or a device accesses memory) -> window.c (a window opens,
 * and a conflict closes it) -> capture.c (copies both sides into an observation and queues it) -> reporter.c (attributes the
 * access on its own thread, names it, and calls the sink).
 *
 * There is one lock, d->lock. It guards points, windows, the queue of observations and the counts. A thread holds it for
 * bounded work only: arithmetic, a few reads of guest memory, one copy of a stack. No thread waits for a CPU while it holds
 * d->lock.
 */
#ifndef OUTRIDER_DETECT_CORE_STATE_H
#define OUTRIDER_DETECT_CORE_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "hv/base/rng.h"
#include "hv/detect/core/access.h"
#include "hv/detect/core/config.h"
#include "hv/detect/core/point.h"
#include "hv/detect/core/queue.h"
#include "hv/guest/guest.h"
#include "hv/race/coverage.h"
#include "hv/race/stats.h"
#include "hv/target/target.h"

#define MAX_SAMPLE_POINTS 65520u
#define MAX_HOOKS 4096u
/* Capacity of the ring of sample points that CPUs executed. The sampler empties the ring every few ms. */
#define EXECUTED_KEPT 256u

struct pool;
struct target_sites;
struct confirmer;
struct locks;
struct rendezvous_server;

/* A window: one CPU is held before one access, and its memory is watched (DataCollider, section 3.2). */
struct window {
	bool open;
	/* The early check for other running CPUs was done (window_expire()). */
	bool looked;
	/* The other CPUs were asked to deliver their pending stops, since one of them may have changed the memory. */
	bool asked;
	/* How many times the other CPUs did not deliver their stops in time. */
	unsigned not_told;
	/* Number of accesses of other contexts that were emulated at this window's point. */
	unsigned emulated;
	/* The CPU that is held. */
	unsigned cpu;
	/* The CPU's registers at the hit. RIP and RSP identify the held context when it comes back to its INT3. */
	struct x86_regs regs;
	struct guest_context context;
	/* The time of the hit (CLOCK_MONOTONIC), and the longest time until the window closes. Both in ns. */
	uint64_t opened_ns, hold_ns;
	/*
	 * When the watches were in force on all CPUs, or, without watches, when the window was open (CLOCK_MONOTONIC, ns). 0:
	 * not yet.
	 */
	uint64_t watched_ns;
	struct point *point;
	struct datum data[INSN_MAX_MEM];
	unsigned data_count;
};

/* A rendezvous: two CPUs held before conflicting accesses, the first in a window, the second at a sample point. See
 * rendezvous.h. */
struct rendezvous_state {
	bool under_way;
	/*
	 * The number of the current rendezvous, counted from 1, and the number of the last one that the rendezvous thread
	 * served.
	 */
	uint64_t number, served;
	/* When the rendezvous began, and when it is given up (CLOCK_MONOTONIC, ns). */
	uint64_t began_ns, deadline_ns;
	struct window *window;
	/* The second CPU, and the state in which it is held. */
	unsigned cpu;
	struct x86_regs regs;
	struct guest_context context;
	struct point *point;
	/* The accesses of the first and of the second CPU. */
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
	/* How many of the points are hooks. The rest are sample points. */
	unsigned hooks;
	/* Indexed by the held CPU. */
	struct window windows[TARGET_MAX_CPUS];
	unsigned open_windows;
	struct rendezvous_state rendezvous;
	/* Until this time (CLOCK_MONOTONIC, ns) no rendezvous is begun in which a CPU has interrupts off. */
	uint64_t irqs_off_rendezvous_rest;
	/* The thread that serves rendezvous. NULL: the sink does not want them. */
	struct rendezvous_server *rendezvous_server;
	/* Until this time (CLOCK_MONOTONIC, ns) the CPU of this index is not held with interrupts off again. */
	uint64_t irqs_off_rest[TARGET_MAX_CPUS];
	/*
	 * CPU time in ns that windows may still take under config.overhead: the governor's last balance less the windows
	 * opened since.
	 */
	double credit_ns;
	/* Hits that were resumed at once because credit_ns was not above 0. */
	uint64_t refused_hits;
	/* target_stats.lost_ns at the sampler's last iteration. */
	uint64_t lost_ns;
	/* Bit mask of the watch slots in use. */
	unsigned slots_used;
	uint32_t last_cookie;
	/* A CPU hit a target site. The sampler is to arm the race's other sites at once. */
	bool used_up;
	/* Open no window and plant no point any more: detect_stop() is taking all points out. */
	bool closing;
	struct rng delay_rng;
	/* Pairs of sites to confirm, sampled beside all other sites. */
	struct confirmer *confirmer;
	/* Follows locks. NULL without config.locks. */
	struct locks *locks;
	/* Signalled when a lock moment waits for the thread that follows locks, or when that thread is to end. */
	pthread_cond_t lock_moment;
	struct detect_stats stats;
	/* The target's counts when the first sample point was armed. */
	struct target_stats stats_before;
	/* When the first sample point was armed (CLOCK_MONOTONIC, ns). 0: none was armed yet. */
	_Atomic uint64_t started_ns;
	/* When the sampler's first try to arm sample points was over (CLOCK_MONOTONIC, ns). 0: not yet. */
	_Atomic uint64_t ready_ns;
	/* When detect_stop() was called (CLOCK_MONOTONIC, ns). 0: not yet. */
	uint64_t ended_ns;
	/* The reporter is to end when the queue of observations is empty. */
	bool reporter_stop;
	/* Ring of the GVAs of sample points that CPUs executed. The newest is at (stats.executed - 1) % EXECUTED_KEPT. */
	uint64_t executed[EXECUTED_KEPT];
	struct observation_queue observations;
	/* Signalled when an observation waits, or when the reporter is to end. */
	pthread_cond_t queued;

	/* From here to `wanted`: used by the sampler's thread only. */
	struct pool *pool;
	struct rng choice_rng;
	/* Random numbers for choosing among functions that the guest was seen to run. Own sequence: see detect_new(). */
	struct rng again_rng;
	struct insn_decoder *decoder;
	/* config.prefer's weights of single sites apply, because they were made with this guest's kernel. */
	bool sites_preferred;
	/* The sites of config.known_races in this guest. NULL without config.known_races. */
	struct target_sites *target_sites;
	/* How many sample points to keep armed: DataCollider's k. */
	uint32_t wanted;

	/* Coverage. d->lock guards the counts in it. NULL without config.coverage. */
	struct coverage *coverage;
	/* Number of sites in the pool. */
	_Atomic uint64_t site_count;
	/* Wakes the sampler early: to end, or because `used_up` was set. */
	pthread_cond_t tick;
	/* The sampler is to end. */
	atomic_bool stop;

	/* From here on: used only by the caller of detect_start() and detect_stop(). */
	pthread_t sampler, reporter, lock_follower;
	bool sampler_started, reporter_started, lock_follower_started;
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

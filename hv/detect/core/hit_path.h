/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the hit path: open windows, the rendezvous, and the observations that wait for the reporter. Part of struct
 * detect, and guarded by its lock.
 */
#ifndef OUTRIDER_DETECT_CORE_HIT_PATH_H
#define OUTRIDER_DETECT_CORE_HIT_PATH_H

#include <pthread.h>

#include "hv/base/allowance.h"
#include "hv/base/rng.h"
#include "hv/detect/core/access.h"
#include "hv/detect/core/device_window_state.h"
#include "hv/detect/core/point.h"
#include "hv/detect/core/queue.h"
#include "hv/detect/core/touches.h"
#include "hv/guest/guest.h"
#include "hv/race/rendezvous.h"
#include "hv/target/target.h"

/* Capacity of the ring of sample points that CPUs executed. The sampler empties the ring every few ms. */
#define EXECUTED_KEPT 256u
/* Capacity of the ring of conflicts. There are some tens of conflicts a second at most. */
#define MET_KEPT 32u

struct rendezvous_server;

/*
 * A window: one CPU is held before one access, and its memory is watched (DataCollider, section 3.2). Or the CPU is held before
 * a lock call, between two critical sections (hv/detect/window/between.h): then there is no access and no point.
 */
struct window {
	bool open;
	/*
	 * The CPU is held at a lock call, between two critical sections or before the first of them (before_first). `point` is
	 * NULL.
	 */
	bool between;
	/*
	 * GVA of the lock, if the CPU is held before the first of two sections of this lock (meet.h). 0: the CPU is not held at
	 * such a place.
	 */
	uint64_t before_first;
	/* The CPU is held before a get (last_put.h): only a last put is a conflict. */
	bool get;
	/* Number of writes to the count of the get, after which the count was not 0. */
	unsigned writes;
	/* The early check for other running CPUs was done (window_expire()). */
	bool looked;
	/* The CPU stays held for the window's whole time, even if the last CPU that still runs hits a sample point (turn.h). */
	bool whole;
	/* The other CPUs were asked to deliver their pending stops, since one of them may have changed the memory. */
	bool asked;
	/* Number of times that the other CPUs did not deliver their stops in time. */
	unsigned not_told;
	/* Number of accesses of other contexts that were emulated at this window's point. */
	unsigned emulated;
	/* The CPU that is held. */
	unsigned cpu;
	/*
	 * The CPU's registers at the hit. RIP and RSP identify the held context when it hits the INT3 again after an interrupt.
	 */
	struct x86_regs regs;
	struct guest_context context;
	/* The time of the hit (CLOCK_MONOTONIC), and the longest time until the window closes. Both in ns. */
	uint64_t opened_ns, hold_ns;
	/*
	 * When the watches were in force on all CPUs, or, without watches, when the window opened (CLOCK_MONOTONIC, ns). 0: not
	 * yet.
	 */
	uint64_t watched_ns;
	/*
	 * How often the held context came back to its access after an interrupt, and the times of the first RACE_RETURNS_MAX of
	 * these returns (CLOCK_MONOTONIC, ns). In struct race_window the same times count from the window's opening.
	 */
	uint32_t returns;
	uint64_t return_ns[RACE_RETURNS_MAX];
	struct point *point;
	struct datum data[INSN_MAX_MEM];
	unsigned data_count;
};

/*
 * A rendezvous: two CPUs held before conflicting accesses, the first in a window, the second at a sample point. See
 * rendezvous.h.
 */
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
	/* The lock and the calls of a rendezvous of sections. All zero: this is a rendezvous of accesses. */
	struct rendezvous_sections sections;
};

/* The call before which a CPU was held last. RIP and RSP identify its context when it comes back to the call. */
struct held_call {
	uint64_t rip, rsp; /* 0: none */
};

/* The result of a hit, by which the sampler chooses the next sample points. */
enum hit_result {
	/* The hit opened a window, or its access conflicts with an open window or with a device. */
	HIT_USEFUL,
	/* No window was possible, because the access is to the stack, to unmapped memory or to memory that is no RAM. */
	HIT_NO_MEMORY,
	/* No window was possible, because the CPU could not be held in its context. */
	HIT_NO_WINDOW,
	/*
	 * No window was allowed, for a reason that has nothing to do with the point. For example, the CPU is the last one that
	 * runs, or the governor has no credit.
	 */
	HIT_REFUSED,
	/* The point is in a callee (callees.h), and the callee was not called by a sampled function. */
	HIT_OTHER_CALLER,
};

/* A sample point that a CPU executed. */
struct executed_point {
	uint64_t addr;
	enum hit_result result;
	/* GVA of a site with which the site talks (touches.h). 0: none. */
	uint64_t talks_with;
};

/* The sites of a conflict that the reporter has attributed. 0: unknown, or a device. */
struct met_sites {
	uint64_t site[2];
};

/* How often a CPU wakes up (hv/detect/window/awake.h). */
struct wake_average {
	/* When averaging began anew (CLOCK_MONOTONIC, ns), and the number of wake-ups by then. 0: not yet. */
	uint64_t since_ns, count;
	/* The average time between two wake-ups in the period that ended at since_ns, in ns. UINT64_MAX: unknown. */
	uint64_t sleep_ns;
};

struct hit_path {
	/* Indexed by the held CPU. */
	struct window windows[TARGET_MAX_CPUS];
	unsigned open_windows;
	/* The window that begins at a device. Not counted in open_windows, because no CPU is held in it. */
	struct device_window device_window;
	struct rendezvous_state rendezvous;
	/* State of the thread that serves rendezvous. NULL: no such thread runs, and no rendezvous begins. */
	struct rendezvous_server *rendezvous_server;
	/* Until this time (CLOCK_MONOTONIC, ns) no rendezvous is begun in which a CPU has interrupts off. */
	uint64_t irqs_off_rendezvous_rest;
	/* Until this time (CLOCK_MONOTONIC, ns) the CPU of this index is not held with interrupts off again. */
	uint64_t irqs_off_rest[TARGET_MAX_CPUS];
	/*
	 * CPU time in ns that windows may still take under config.overhead: the credit that the governor computed last, less
	 * the longest duration (hold_ns) of each window opened since.
	 */
	double credit_ns;
	/* Number of hits that could open no window, because credit_ns was not above 0. */
	uint64_t refused_hits;
	/* Bit mask of the watch slots in use. */
	unsigned slots_used;
	uint32_t last_cookie;
	/* For how long the CPU of this index may still be held (window_cpu_may_be_held()). */
	struct allowance held[TARGET_MAX_CPUS];
	/* For how long CPUs may still be held between critical sections (between.h). */
	struct allowance between;
	/*
	 * The call before which the CPU of this index was held last, because the call begins the first of two critical sections
	 * (meet.h). All zero: there was no such hold, or the context has gone on from the call.
	 */
	struct held_call came_back[TARGET_MAX_CPUS];
	/* How often the CPU of this index wakes up. */
	struct wake_average wake_averages[TARGET_MAX_CPUS];
	struct rng delay_rng;
	/* Ring of the sample points that CPUs executed. The newest is at (stats.executed - 1) % EXECUTED_KEPT. */
	struct executed_point executed[EXECUTED_KEPT];
	/* Which sites touched which memory lately. */
	struct touches touches;
	/* Ring of the conflicts that the reporter has attributed. The newest is at (met_count - 1) % MET_KEPT. */
	struct met_sites met[MET_KEPT];
	uint64_t met_count;
	struct observation_queue observations;
	/* Signalled when an observation waits, or when the reporter is to end. */
	pthread_cond_t queued;
};

#endif

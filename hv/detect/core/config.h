/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The detector's parameters: what to sample, and where to report. Plain data, part of detect.h. */
#ifndef OUTRIDER_DETECT_CORE_CONFIG_H
#define OUTRIDER_DETECT_CORE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/guest/lock_functions.h"
#include "hv/race/complaint.h"
#include "hv/race/known_races.h"
#include "hv/race/lock_moment.h"
#include "hv/race/observation.h"
#include "hv/race/prefer.h"
#include "hv/race/rendezvous.h"

/*
 * Upper bound of detect_config.callee_depth, in calls. The more calls lead from the sampled functions to a callee, the less the
 * callee has to do with them.
 */
#define DETECT_CALLEE_DEPTH_MAX 3u

struct detect_config {
	/* Seed of the choice of sites and delays. */
	uint64_t seed;
	/* Target hit rate, in hits/s. With `overhead`, the hit rate may be lower, but not higher. */
	unsigned rate;
	/*
	 * Share of the CPUs' time that sampling may cost, up to 1. The governor sets the hit rate such that sampling costs this
	 * share. 0: no limit.
	 */
	double overhead;
	/* Longest window, in ns. */
	uint64_t delay_ns;
	/* Comma-separated globs of function names to sample. NULL: all functions. */
	const char *sample;
	/*
	 * Comma-separated globs of module names: sample these modules only, each from when it is loaded. NULL: the kernel and
	 * all modules.
	 */
	const char *module;
	/*
	 * Also sample callees: functions that `sample` and `module` do not select, and that are called by functions that they
	 * select. 1: only functions that are called directly; 2: also the functions that these functions call; and so on, up
	 * to DETECT_CALLEE_DEPTH_MAX. 0: no callees.
	 */
	unsigned callee_depth;
	/* Also sample GS-relative accesses, which are accesses to per-CPU memory. */
	bool per_cpu;
	/* Weights for the choice of sites, which must outlive the detector. NULL: uniform choice. */
	const struct prefer *prefer;
	/*
	 * Sample only the sites of these races, both sites of a race together. `sample`, `module` and `prefer` must then be
	 * NULL. The list must outlive the detector. NULL: sample the whole pool.
	 */
	const struct known_races *known_races;
	/*
	 * The lock functions by which to follow the locks of the sampled code. `module` or `sample` must be set. The list must
	 * outlive the detector. NULL: locks are not followed.
	 */
	const struct lock_functions *locks;
	/*
	 * Number of windows per second that begin at a device: in each, a request is held before its device accesses the
	 * request's memory. 0: none. Used if the target has devices and `known_races` is NULL.
	 */
	unsigned device_rate;
	/* Record coverage for detect_coverage(). */
	bool coverage;
};

struct detect_sink {
	/*
	 * A race was observed. Called on the reporter's thread, one call at a time. The observation is valid during the call
	 * only.
	 */
	void (*race)(void *ctx, const struct observation *o);
	/* One message to the user, such as "kernel found...". Called on the sampler's thread. NULL: messages are dropped. */
	void (*message)(void *ctx, const char *line);
	/*
	 * The detector cannot go on, for example because the symbols belong to another kernel. Called at most once, on the
	 * sampler's thread. The target is stopped after the call.
	 */
	void (*failed)(void *ctx, const struct err *err);
	/*
	 * A rendezvous of the instructions at these two GVAs is possible. Returns whether rendezvous() is wanted for it. Called
	 * on a vCPU's thread under the detector's lock, so it must not block and must not call the detector. Not called while
	 * a rendezvous is under way. NULL together with `rendezvous`: no rendezvous.
	 */
	bool (*rendezvous_wanted)(void *ctx, uint64_t gva_a, uint64_t gva_b);
	/*
	 * A rendezvous: both CPUs are held before their accesses, and the machine stands still (target_stand_still()) until
	 * this returns. Called on the rendezvous thread under the detector's lock, so it must not call the detector. It may
	 * call the target and fork(). It must be brief, since the guest can notice the time that it lost. `m` is valid during
	 * the call only. Each rendezvous_wanted() that returned true is followed by at most one call: a rendezvous can be
	 * skipped, for example because a CPU has moved (hv/detect/window/rendezvous.h).
	 */
	void (*rendezvous)(void *ctx, const struct rendezvous *m);
	/*
	 * A rendezvous of critical sections needs three calls that take a lock: `first` and `second` in one activation of a
	 * function, and `between` in another context (struct rendezvous_sections). All three are GVAs. With `begin`, the
	 * rendezvous is possible now, and begins if this returns true. Without `begin`, returns whether the detector should
	 * hold a CPU so that the rendezvous may become possible. Threads and locks are as for rendezvous_wanted(). NULL: no
	 * rendezvous of sections.
	 */
	bool (*sections_wanted)(void *ctx, uint64_t first, uint64_t second, uint64_t between, bool begin);
	/*
	 * A lock moment: an access, a taken or released lock, or the end of an object. Called on a thread of its own, one call
	 * at a time, in the order of the moments' numbers. `m` is valid during the call only. Set together with config.locks.
	 */
	void (*moment)(void *ctx, const struct lock_moment *m);
	/* From now on the guest's log can be read. Called once, on the reporter's thread. NULL if `complaint` is NULL. */
	void (*log_read)(void *ctx);
	/*
	 * The guest's kernel has written a complaint to its log. Called on the reporter's thread. `c` is
	 * valid during the call only. NULL: the log is not read.
	 */
	void (*complaint)(void *ctx, const struct complaint *c);
	void *ctx;
};

#endif

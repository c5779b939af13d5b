/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the caller of the detector says to it: what to sample, and where to report. Plain data, part of detect.h. */
#ifndef OUTRIDER_DETECT_CONFIG_H
#define OUTRIDER_DETECT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/guest/lock_functions.h"
#include "hv/race/aim.h"
#include "hv/race/lock_moment.h"
#include "hv/race/meeting.h"
#include "hv/race/observation.h"
#include "hv/race/prefer.h"

struct detect_config {
	/* The seed of the choice of points and of delays. */
	uint64_t seed;
	/* How many hits per second to aim at, or with `overhead` the most. */
	unsigned rate;
	/* The share of the CPUs' time that may be lost, up to 1: the rate of hits follows it. 0: whatever the rate costs. */
	double overhead;
	/* The longest window, in ns. */
	uint64_t delay_ns;
	/* Comma-separated globs on the names of functions to sample in. NULL: all functions. */
	const char *sample;
	/*
	 * Comma-separated globs on the names of modules: sample only in these, each from when it is loaded. NULL: sample in
	 * the kernel and in all modules.
	 */
	const char *module;
	/* Sample GS-relative accesses too, which are those to per-CPU memory. */
	bool per_cpu;
	/* Choose sites by these weights. NULL: uniformly. It must outlive the detector. */
	const struct prefer *prefer;
	/*
	 * Sample only the sites of these races, both sites of a race together. `sample`, `module` and `prefer` must be NULL.
	 * NULL: sample whatever there is. It must outlive the detector.
	 */
	const struct aim *aim;
	/*
	 * Follow the locks of the code that is sampled, by these functions. `module` or `sample` must be set. NULL: locks are
	 * not followed. It must outlive the detector.
	 */
	const struct lock_functions *locks;
	/* Keep what is sampled of each site, for detect_coverage(). */
	bool coverage;
};

struct detect_sink {
	/*
	 * A race was observed. Called on the reporter's thread, once at a time. The observation is valid during the call only.
	 */
	void (*race)(void *ctx, const struct observation *o);
	/*
	 * One line of progress for people, such as "kernel found...". Called on the sampler's thread. NULL: nobody reads them.
	 */
	void (*note)(void *ctx, const char *line);
	/*
	 * The detector cannot go on, for example because the symbols are another kernel's. Called once at most, on the
	 * sampler's thread. The target is stopped after it.
	 */
	void (*failed)(void *ctx, const struct err *err);
	/*
	 * Two CPUs are about to stand before conflicting accesses by the instructions at these GVAs. Returns whether meeting()
	 * is to be called for them. Called on a CPU's thread and under the detector's lock, so it must not wait for anything
	 * and must not call the detector. Not called while a meeting is under way. NULL, together with meeting: never.
	 */
	bool (*meeting_wanted)(void *ctx, uint64_t gva_a, uint64_t gva_b);
	/*
	 * The two CPUs stand there, and the machine stands still (target_stand_still()) until this returns. Called on a thread
	 * of its own, under the detector's lock, so it must not call the detector. It may call the target and fork(). It must
	 * be brief, since the guest notices how long it stood still. The meeting is valid during the call only. After
	 * meeting_wanted() has returned true this follows at most once: a meeting is skipped if a CPU has moved meanwhile.
	 */
	void (*meeting)(void *ctx, const struct meeting *m);
	/*
	 * Something was seen of accesses and locks. Called on a thread of its own, once at a time, in the order of the moments'
	 * numbers. The moment is valid during the call only. Set together with config.locks.
	 */
	void (*moment)(void *ctx, const struct lock_moment *m);
	void *ctx;
};

#endif

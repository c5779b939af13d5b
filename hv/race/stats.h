/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of a run, from the target and the detector. Plain data, stored in the report. */
#ifndef OUTRIDER_RACE_STATS_H
#define OUTRIDER_RACE_STATS_H

#include <stdint.h>

#include "hv/race/histogram.h"

/* The phases of a window, in order. */
enum window_phase {
	/* From the target's report of the hit until the detector's lock was taken. */
	WINDOW_LOCK,
	/* From taking the lock until the window was open: datum located and read, watchpoints requested. */
	WINDOW_OPEN,
	/*
	 * From the open window until the watchpoints were set on all other CPUs. Only windows with watchpoints have this phase.
	 */
	WINDOW_WATCH,
	/* From the end of the preceding phase until the decision to close the window: the hold itself. */
	WINDOW_HELD,
	/*
	 * From the decision to close the window until the watchpoints and the INT3 were removed. Then the host's scheduler lets
	 * the CPU continue.
	 */
	WINDOW_CLOSE,
	WINDOW_PHASES
};

struct target_stats {
	/* Exits of CPUs, for any reason. */
	uint64_t exits;
	/* Exits for a breakpoint or a watchpoint. */
	uint64_t debug_exits;
	/* Exits for a watchpoint that had already been removed. */
	uint64_t stale_exits;
	/* Kicks of running CPUs. */
	uint64_t kicks;
	/* ioctls on CPUs, except KVM_RUN. */
	uint64_t ioctls;
	/*
	 * Time in ns that CPUs did not run because their breakpoints and watchpoints were handled. Holds do not count. 0 if
	 * unknown.
	 */
	uint64_t stopped_ns;
	/*
	 * Time in ns that CPUs lost, summed over all CPUs: stops with their handling, holds, and kicks. Includes interrupts
	 * that a CPU serves while held. Excludes entering and leaving the guest.
	 */
	uint64_t lost_ns;
	/* The part of lost_ns in which the whole machine was stopped, in ns of wall time. 0 if CPUs stop individually. */
	uint64_t still_ns;
	/* The guest's own #BP and #DB exceptions that were reinjected. */
	uint64_t reinjected;
};

struct detect_stats {
	/* Sites in the pool, an estimate (pool_sites()); with --aim, the target sites that were found. */
	uint64_t sites;
	/* Largest number of callees that were sampled at one time. */
	uint64_t callees;
	/* Sample points armed now. */
	uint64_t armed;
	/* Maximum number of sample points that were armed at one time. */
	uint64_t armed_most;
	/* Sample points armed in total, without those for confirming suspicions (hv/detect/steer/confirm.h). */
	uint64_t planted;
	/* Armed points at which a CPU stopped. A point is disarmed after its first hit. */
	uint64_t executed;
	/*
	 * Lock events dropped because events came faster than the detector could describe them, or because their code was
	 * unloaded before they were described.
	 */
	uint64_t moments_lost;
	/*
	 * Sites that were chosen and not armed, because hits in their functions seldom open a window (hv/detect/steer/yield.h),
	 * or because they had been tried lately and do not talk (hv/detect/steer/talkers.h).
	 */
	uint64_t passed_over;
	/*
	 * Counts of steered points (hv/detect/steer/steered.h): number armed, number armed at the first site of a function of
	 * new text, hits at steered points, windows opened at these hits, and conflicts seen in these windows.
	 */
	uint64_t steered, steered_first, steered_hits, steered_windows, steered_conflicts;
	/*
	 * `talks`: hits that touched memory which another CPU had touched lately; at least one of the two wrote
	 * (hv/detect/core/touches.h). `talking_sites`: sites that were found to talk. `retired_sites`: sites at which the
	 * sampler no longer steers points, because several conflicts were seen there.
	 */
	uint64_t talks, talking_sites, retired_sites;
	/* Armed points that no CPU reached for long, and that were disarmed so that other sites could be armed. */
	uint64_t stale;
	/* CPU time in ns that the sampler's thread spent on choosing, decoding and arming. */
	uint64_t arming_ns;
	/* The requested rate in hits per second (--rate). */
	uint64_t asked_rate;
	/*
	 * The requested cost limit in percent of the CPUs' time or, if the machine stops as a whole, of wall time (--overhead).
	 * 0: only the rate limits sampling. Set by the session.
	 */
	unsigned asked_percent;
	/* Number of CPUs. */
	unsigned cpus;
	/*
	 * Stops of CPUs at a sample point. Returns of a held context to its point (race_window.returns) and accesses counted in
	 * `emulated` are no hits.
	 */
	uint64_t hits;
	/* Windows opened. `get_windows`: those of them before gets. */
	uint64_t windows, get_windows;
	/* Durations of each phase of the windows. */
	struct histogram phase[WINDOW_PHASES];
	/* Stops at a sample point that was disarmed after the CPU had executed its INT3. Such stops are not counted as hits. */
	uint64_t stale_hits;
	/* Hits without a window because the access was to the current stack. */
	uint64_t skipped_stack;
	/* Hits without a window because the memory was unmapped or not RAM, or the count of a REP was 0. */
	uint64_t skipped_memory;
	/*
	 * Hits without a window because the delay was 0. The delay is 0 in an NMI; with interrupts off, if a window with
	 * interrupts off was open on this CPU too short a time before; or if the random delay was 0.
	 */
	uint64_t skipped_short;
	/*
	 * Hits of gets without a window (hv/detect/window/last_put.h): the count was 0 or too large, no watchpoint could see
	 * its writes, or another window watched it.
	 */
	uint64_t skipped_count;
	/* Hits without a window because all other CPUs were held, and one must run. */
	uint64_t skipped_last;
	/* Hits without a window because sampling had used up its cost limit. */
	uint64_t skipped_cost;
	/* Hits without a window because their CPU had been held for most of the time lately. */
	uint64_t skipped_held;
	/*
	 * `callee_hits`: hits in callees. `skipped_caller`: number of these hits that got no window because no sampled function
	 * had called the callee.
	 */
	uint64_t callee_hits, skipped_caller;
	/*
	 * Times that another context reached the instruction of an open window, and its access was emulated. Not counted as
	 * hits.
	 */
	uint64_t emulated;
	/*
	 * Windows closed early because another context had to execute the same instruction, which could not be emulated, or
	 * because of many writes to the count of a get.
	 */
	uint64_t cut_short;
	/* Windows closed early because no other CPU was running, and no device served a request. */
	uint64_t cut_idle;
	/* Windows closed early so that the last CPU that ran could be held at its own sample point. */
	uint64_t cut_turn;
	/*
	 * `section_holds`: times that a CPU was held between two critical sections (hv/detect/window/between.h).
	 * `section_holds_met`: number of these times in which another context's section came in between.
	 */
	uint64_t section_holds, section_holds_met;
	/*
	 * Windows in which some bytes of the sampled access had no watchpoint, because debug registers ran out, the memory was
	 * user memory, or the access was longer than RACE_DATA_MAX bytes.
	 */
	uint64_t no_watch;
	/*
	 * Rendezvous (hv/race/rendezvous.h) that took place, and those that were begun and skipped
	 * (hv/detect/window/rendezvous.h says when).
	 */
	uint64_t rendezvous, rendezvous_skipped;
	/* Conflicts seen. */
	uint64_t conflicts;
	/* Conflicts whose other side was a device. */
	uint64_t device_conflicts;
	/* Windows that began at a device: requests held before the device accessed their memory. */
	uint64_t device_windows;
	/* Time in ns for which requests were held in these windows. */
	uint64_t device_held_ns;
	/* Times that the memory of a held request changed, and no CPU was caught changing it. Such a change is not reported. */
	uint64_t device_unseen;
	/*
	 * Accesses of a device to its own ring, during a window whose sampled datum they overlap, that would be conflicts. They
	 * are not counted as conflicts, because driver and device share a ring by design.
	 */
	uint64_t ring_accesses;
	/* Conflicts not reported because the reporter thread's queue was full. */
	uint64_t lost;
	/*
	 * Conflicts not reported because the other side is unknown: the target reported a watchpoint hit late, and no
	 * instruction near the CPU's stop can have made the access; or the target did not report in time which CPU changed the
	 * memory; or it is not known which CPU made the count of a get 0.
	 */
	uint64_t unexplained;
	/* Points not armed, for example because the text has changed, is unmapped or is about to be freed. */
	uint64_t refused;
	/* Sides of conflicts whose stacks were unwound. */
	uint64_t stacks;
	/* Stacks unwound to their beginning without a guess. */
	uint64_t stacks_unwound;
	/* Time in ns from the arming of the first point to the stop of the detector. */
	uint64_t sampling_ns;
	/* The target's counters in that time. */
	struct target_stats target;
};

#endif

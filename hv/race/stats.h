/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is counted during a run, by the target and by the detector. Plain data: the report keeps it. */
#ifndef OUTRIDER_RACE_STATS_H
#define OUTRIDER_RACE_STATS_H

#include <stdint.h>

#include "hv/race/histogram.h"

/* What the time of a window goes to, in the order in which it comes. */
enum window_phase {
	/* From when the target told of the hit until the detector's lock was taken. */
	WINDOW_LOCK,
	/* From then on until the window was open: its data were found and read, and its watches were set. */
	WINDOW_OPEN,
	/* Until the watches were in force on all other CPUs. Only windows with watches have this phase. */
	WINDOW_WATCH,
	/* Until it was decided to close the window: the hold proper. */
	WINDOW_HELD,
	/* Until its watches and its INT3 were gone. Then the CPU goes on as soon as it is scheduled. */
	WINDOW_CLOSE,
	WINDOW_PHASES
};

struct target_stats {
	/* Times that a CPU came back to us, for any reason. */
	uint64_t exits;
	/* Those of the exits that were for a breakpoint or a watchpoint. */
	uint64_t debug_exits;
	/* Those of the exits that were for a watchpoint that had been retired already. */
	uint64_t stale_exits;
	/* Times that we interrupted a running CPU. */
	uint64_t kicks;
	/* Control operations on CPUs, without KVM_RUN. */
	uint64_t ioctls;
	/*
	 * Time that CPUs did not run because their breakpoints and watchpoints were being handled, in ns. Holds are not
	 * counted. 0 where that is not known.
	 */
	uint64_t stopped_ns;
	/*
	 * Time that CPUs were kept from what they were doing, over all CPUs, in ns: stops and what was done in them, holds, and
	 * kicks. An interrupt that a CPU serves while it is held is in it, too. Changing into the guest and out of it is not.
	 */
	uint64_t lost_ns;
	/* The part of lost_ns in which the machine stood still as a whole, in ns of time. 0 where CPUs stop one by one. */
	uint64_t still_ns;
	/* Breakpoint and debug exceptions (#BP and #DB) of the guest's own that were handed back to it. */
	uint64_t reinjected;
};

struct detect_stats {
	/* Sites in the pool. */
	uint64_t sites;
	/* Sample points that are armed now. */
	uint64_t armed;
	/* The largest number of sample points that were armed at a time. */
	uint64_t armed_most;
	/* Sample points that were planted, over all. */
	uint64_t planted;
	/* Those of the planted points that a CPU stopped at. Each such point is used up. */
	uint64_t passed;
	/* Moments of accesses and locks that came faster than they could be described. */
	uint64_t moments_lost;
	/* Those of the planted points that were taken out because no CPU had come by for long and others were to have a turn.
	 */
	uint64_t stale;
	/* Time that the sampler's thread took to choose, decode and plant sample points, in ns. */
	uint64_t arming_ns;
	/* The rate that the user asked for, in hits per second. */
	uint64_t asked_rate;
	/*
	 * The cost that the user asked for, in percent: of the CPUs' time, or where the machine stands still as a whole, of the
	 * time. 0: the rate alone was to decide. Set by the session.
	 */
	unsigned asked_percent;
	/* The number of CPUs. */
	unsigned cpus;
	/* Times that a CPU stopped at a sample point. */
	uint64_t hits;
	/* Windows that were opened. */
	uint64_t windows;
	/* How long each phase of the windows took. */
	struct histogram phase[WINDOW_PHASES];
	/* Stops at a point that was removed after the CPU had executed it. They are not counted as hits. */
	uint64_t stale_hits;
	/* Hits without a window because the access was to the current stack. */
	uint64_t skipped_stack;
	/* Hits without a window because the memory was not mapped or not RAM, or because a REP had a count of 0. */
	uint64_t skipped_memory;
	/* Hits without a window because no time was allowed: interrupts were off, or a delay of 0 was drawn. */
	uint64_t skipped_short;
	/* Hits without a window because every other CPU was held already, and the last one must run. */
	uint64_t skipped_last;
	/* Hits without a window because sampling had cost all of the time that it may cost. */
	uint64_t skipped_cost;
	/*
	 * Times that another context came to the instruction of an open window, and its access was carried out in its place.
	 * They are not counted as hits.
	 */
	uint64_t passes;
	/* Windows that ended early because another context had to pass the same instruction, and that could not be done. */
	uint64_t cut_short;
	/* Windows that ended early because no other CPU was running. */
	uint64_t cut_idle;
	/* Accesses in windows that had no watchpoints, or not for all bytes: registers ran out, or it was user memory. */
	uint64_t no_watch;
	/* Meetings (hv/race/meeting.h) that took place, and those that did not because a CPU had moved, or not in time. */
	uint64_t meetings, meetings_skipped;
	/* Conflicts that were seen. */
	uint64_t conflicts;
	/* Those of the conflicts whose other side was a device. */
	uint64_t device_conflicts;
	/*
	 * Accesses of devices to their rings that met an open window and would have conflicted with it. Driver and device share
	 * a ring by design, so these are no conflicts.
	 */
	uint64_t ring_accesses;
	/* Those of the conflicts that were not reported because the reporter was too far behind. */
	uint64_t lost;
	/*
	 * Conflicts that were not reported because the target told of them late, and no access fits, or because it did not tell
	 * in time who changed the memory.
	 */
	uint64_t unexplained;
	/* Points that were not armed because the bytes there were not as expected. */
	uint64_t refused;
	/* Sides of conflicts whose stacks were unwound. */
	uint64_t stacks;
	/* Those of the stacks that were unwound to their beginning without a guess. */
	uint64_t stacks_unwound;
	/* Time since the first point was armed, until the detector was stopped, in ns. */
	uint64_t sampling_ns;
	/* The target's counts in that time. */
	struct target_stats target;
};

#endif

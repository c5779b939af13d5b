/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is counted during a run, by the target and by the detector. Plain data: the report keeps it. */
#ifndef OUTRIDER_RACE_STATS_H
#define OUTRIDER_RACE_STATS_H

#include <stdint.h>

struct target_stats {
	uint64_t exits;	      /* times a CPU came back to us, for any reason */
	uint64_t debug_exits; /* of these: breakpoints, watchpoints */
	uint64_t stale_exits; /* of these: a watchpoint already retired */
	uint64_t kicks;	      /* times a running CPU was interrupted by us */
	uint64_t ioctls;      /* control operations on CPUs, KVM_RUN excluded */
	uint64_t reinjected;  /* the guest's own #BP and #DB handed back */
};

struct detect_stats {
	uint64_t sites;		    /* in the pool */
	uint64_t armed;		    /* sample points armed now */
	uint64_t hits;		    /* of sample points */
	uint64_t windows;	    /* opened */
	uint64_t stale_hits;	    /* of a point removed between its execution and our look: not counted as hits */
	uint64_t skipped_stack;	    /* hits not held: the current stack, */
	uint64_t skipped_memory;    /* memory that is not mapped or not RAM, REP with a count of 0, */
	uint64_t skipped_short;	    /* no time allowed (interrupts off, draw of 0) */
	uint64_t skipped_last;	    /* every other CPU was held already: the last one must run */
	uint64_t cut_short;	    /* windows ended early: another context had to pass the same instruction */
	uint64_t cut_idle;	    /* the same: nobody else was running */
	uint64_t no_watch;	    /* windows (partly) without watchpoints: registers ran out, or user memory */
	uint64_t conflicts;	    /* seen */
	uint64_t lost;		    /* of these: not reported, the reporter was too far behind */
	uint64_t unexplained;	    /* the same: told late by the target, and no access fits */
	uint64_t refused;	    /* points not armed since the bytes there were not as expected */
	uint64_t stacks;	    /* of conflicts' sides, looked at; */
	uint64_t stacks_unwound;    /* of these: to their beginning without a guess */
	uint64_t sampling_ns;	    /* since the first point was armed */
	struct target_stats target; /* while sampling only: from the first armed point to now or to the end */
};

#endif

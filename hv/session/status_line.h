/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of the status line: how far the run is, what it has sampled and found, and what sampling costs. */
#ifndef OUTRIDER_SESSION_STATUS_LINE_H
#define OUTRIDER_SESSION_STATUS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/race/stats.h"

/* Bytes of a status line, with the NUL. */
#define STATUS_LINE_MAX 200
/*
 * Number of status lines, one a second, over which the rate of hits is computed. Over 1 s, a rate of 2 hits/s would jump
 * between 1 and 3.
 */
#define STATUS_SPAN 5

/* The run at one point in time. */
struct status_now {
	/* What the run waits for. NULL: sample points are armed. */
	const char *waits;
	/* Time since the run's start if `waits` is set, else the sampled time, in ns. */
	uint64_t elapsed_ns;
	/* The limit of the sampled time, in ns. 0: no limit. */
	uint64_t duration_ns;
	/*
	 * Only these counts are used: hits, windows, cpus, asked_percent, sampling_ns, and the target's lost_ns and still_ns.
	 * asked_percent is a share of wall time if still_ns is not 0, else of the CPUs' time.
	 */
	struct detect_stats stats;
	size_t races;
};

/* The state of the status line. Used by one thread. Initially all zero. */
struct status_line {
	/* When the line was made last (CLOCK_MONOTONIC, ns). */
	uint64_t made_ns;
	/*
	 * The sampled time and the hits at each of the last `samples` status lines, at most STATUS_SPAN. The newest entry has
	 * the index (next - 1) modulo STATUS_SPAN.
	 */
	struct {
		uint64_t sampling_ns, hits;
	} sample[STATUS_SPAN];
	unsigned samples, next;
};

/* Returns whether there was no line yet, or a second has passed between the last line and `now_ns` (CLOCK_MONOTONIC). */
bool status_line_is_due(const struct status_line *p, uint64_t now_ns);

/* Write the line for `now`. `now_ns` is the current time (CLOCK_MONOTONIC). */
void status_line_make(struct status_line *p, const struct status_now *now, uint64_t now_ns, char line[STATUS_LINE_MAX]);

#endif

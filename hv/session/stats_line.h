/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line now and then on how far the search is: what was sampled and found since the last line, and what that cost. */
#ifndef OUTRIDER_SESSION_STATS_LINE_H
#define OUTRIDER_SESSION_STATS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/race/stats.h"

/* Bytes of a line, with the NUL. */
#define STATS_LINE_MAX 240

/* The counts at one moment. */
struct stats_sample {
	struct detect_stats stats; /* Those of its `target` that are used are the times lost. */
	size_t races;
};

/* One thread's own. All zero but for `every_ns` at first. */
struct stats_line {
	uint64_t every_ns; /* The time from one line to the next, in ns. 0: there are no lines. */
	uint64_t due_ns;   /* When the next line is due, as sampled time. */
	struct stats_sample last;
};

/* Whether a line is due after this much sampled time. */
bool stats_line_is_due(const struct stats_line *p, uint64_t sampled_ns);

/* Write the line for `now`, and begin to count anew. */
void stats_line_make(struct stats_line *p, const struct stats_sample *now, char line[STATS_LINE_MAX]);

#endif

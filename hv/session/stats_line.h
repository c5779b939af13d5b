/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress messages: what was sampled and found since the last message, and what that cost. */
#ifndef OUTRIDER_SESSION_STATS_LINE_H
#define OUTRIDER_SESSION_STATS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/race/stats.h"

/* Bytes of a message, with the NUL. */
#define STATS_LINE_MAX 240

/* The counts at one point in time. */
struct stats_sample {
	struct detect_stats stats; /* Of stats.target only lost_ns is used. */
	size_t races;
};

/* The state of the progress messages. Used by one thread. Initially all zero except `every_ns`. */
struct stats_line {
	/* Period of messages, in ns of sampled time. 0: none. */
	uint64_t every_ns;
	/* When the next message is due, in ns of sampled time. */
	uint64_t due_ns;
	struct stats_sample last;
};

/* Returns whether a message is due after `sampled_ns` of sampled time. */
bool stats_line_is_due(const struct stats_line *p, uint64_t sampled_ns);

/* Write the message for `now`, and keep `now` as the start of the next message's period. */
void stats_line_make(struct stats_line *p, const struct stats_sample *now, char line[STATS_LINE_MAX]);

#endif

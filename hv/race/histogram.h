/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A histogram of durations, in powers of two. Plain data; callers of histogram_add() serialise access. */
#ifndef OUTRIDER_RACE_HISTOGRAM_H
#define OUTRIDER_RACE_HISTOGRAM_H

#include <stdint.h>

/* The last bucket counts all durations of at least 2^38 ns (275 s). */
#define HISTOGRAM_BUCKETS 40u

struct histogram {
	uint64_t count, sum_ns;
	/* bucket[0]: 0 ns. bucket[i]: at least 2^(i-1) ns and less than 2^i ns. */
	uint64_t bucket[HISTOGRAM_BUCKETS];
};

static inline void histogram_add(struct histogram *h, uint64_t ns)
{
	unsigned i = ns ? 64 - (unsigned)__builtin_clzll(ns) : 0;

	h->count++;
	h->sum_ns += ns;
	h->bucket[i < HISTOGRAM_BUCKETS ? i : HISTOGRAM_BUCKETS - 1]++;
}

#endif

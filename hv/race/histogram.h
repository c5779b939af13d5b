/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often something took how long, in powers of two. Plain data; whoever adds to one guards it. */
#ifndef OUTRIDER_RACE_HISTOGRAM_H
#define OUTRIDER_RACE_HISTOGRAM_H

#include <stdint.h>

/* The last bucket has all that took 2^38 ns (275 s) or more. */
#define HISTOGRAM_BUCKETS 40u

struct histogram {
	uint64_t count, sum_ns;
	/* bucket[0]: 0 ns. bucket[i]: from 2^(i-1) ns on, and less than 2^i. */
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of counts that come from reports, where anybody may have written anything. Pure. */
#ifndef OUTRIDER_RACE_COUNT_H
#define OUTRIDER_RACE_COUNT_H

#include <stdint.h>

/* The sum of two counts, at most INT64_MAX, which is the largest number that JSON can carry. */
static inline uint64_t count_sum(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) || sum > INT64_MAX ? INT64_MAX : sum;
}

#endif

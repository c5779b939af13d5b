/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saturating sums of counts from reports, whose content is untrusted. Pure. */
#ifndef OUTRIDER_RACE_COUNT_H
#define OUTRIDER_RACE_COUNT_H

#include <stdint.h>

/* Returns the sum of two counts, at most INT64_MAX: the largest integer that jansson can store. */
static inline uint64_t count_sum(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) || sum > INT64_MAX ? INT64_MAX : sum;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Building blocks for comparison functions of qsort() and bsearch(). */
#ifndef OUTRIDER_BASE_ORDER_H
#define OUTRIDER_BASE_ORDER_H

#include <stdint.h>

/* Returns a negative number if `a` is less than `b`, 0 if they are equal, and a positive number if `a` is greater. */
static inline int order_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

#endif

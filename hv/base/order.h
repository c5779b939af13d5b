/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What comparison functions of qsort() and bsearch() are made of. */
#ifndef OUTRIDER_BASE_ORDER_H
#define OUTRIDER_BASE_ORDER_H

#include <stdint.h>

/* Returns a number below 0 when `a` is less than `b`, 0 when both are equal, and a number above 0 when `a` is greater. */
static inline int order_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

#endif

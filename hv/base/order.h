/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What comparison functions of qsort() and bsearch() are made of. */
#ifndef OUTRIDER_BASE_ORDER_H
#define OUTRIDER_BASE_ORDER_H

#include <stdint.h>

/* Below, equal to or above 0, as `a` is below, equal to or above `b`. */
static inline int order_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

#endif

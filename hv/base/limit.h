/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A deadline for waiting that any thread may bring forward while other threads wait, for example on Ctrl-C. Waiting threads
 * check it at least every LIMIT_LOOK_NS (50 ms).
 */
#ifndef OUTRIDER_BASE_LIMIT_H
#define OUTRIDER_BASE_LIMIT_H

#include <stdatomic.h>
#include <stdint.h>

#include "hv/base/clock.h"

#define LIMIT_NONE UINT64_MAX
#define LIMIT_LOOK_NS 50000000u /* 50 ms: the longest that a waiting thread takes to notice Ctrl-C */

struct limit {
	_Atomic uint64_t end_ns; /* On CLOCK_MONOTONIC. LIMIT_NONE: no deadline yet. */
};

static inline void limit_init(struct limit *l)
{
	atomic_init(&l->end_ns, LIMIT_NONE);
}

/* Set the deadline to `ns` nanoseconds from now, unless the deadline is already earlier. */
static inline void limit_within(struct limit *l, uint64_t ns)
{
	uint64_t end = monotonic_ns() + ns, old = atomic_load(&l->end_ns);

	while (end < old && !atomic_compare_exchange_weak(&l->end_ns, &old, end))
		;
}

/* Returns the deadline on CLOCK_MONOTONIC, in ns; LIMIT_NONE if `l` is NULL or has no deadline yet. */
static inline uint64_t limit_end(const struct limit *l)
{
	return l ? atomic_load(&l->end_ns) : LIMIT_NONE;
}

#endif

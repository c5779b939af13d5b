/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A time at which whoever waits gives up. Any thread may bring the time nearer while others wait, for example when the user has
 * pressed Ctrl-C. Those who wait look at the limit at least every LIMIT_LOOK_NS.
 */
#ifndef OUTRIDER_BASE_LIMIT_H
#define OUTRIDER_BASE_LIMIT_H

#include <stdatomic.h>
#include <stdint.h>

#include "hv/base/clock.h"

#define LIMIT_NONE UINT64_MAX
#define LIMIT_LOOK_NS 50000000u

struct limit {
	_Atomic uint64_t end_ns; /* On CLOCK_MONOTONIC. LIMIT_NONE: there is no limit yet. */
};

static inline void limit_init(struct limit *l)
{
	atomic_init(&l->end_ns, LIMIT_NONE);
}

/* Let the limit be `ns` from now on, unless it is nearer already. */
static inline void limit_within(struct limit *l, uint64_t ns)
{
	uint64_t end = monotonic_ns() + ns, old = atomic_load(&l->end_ns);

	while (end < old && !atomic_compare_exchange_weak(&l->end_ns, &old, end))
		;
}

/* The time of the limit. A NULL `l` is no limit. */
static inline uint64_t limit_end(const struct limit *l)
{
	return l ? atomic_load(&l->end_ns) : LIMIT_NONE;
}

#endif

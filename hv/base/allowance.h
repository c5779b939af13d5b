/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A budget for a share of time, kept as a balance (a token bucket). The balance grows with time and falls by what is spent. The
 * cost of an action may be known only afterwards, so the balance can become negative. A spender that can wait then waits until
 * the balance is 0 or more. Over any period, spending exceeds the share by at most the saved balance plus the cost of the last
 * action. Pure arithmetic: no clock, no lock. All times are in nanoseconds.
 */
#ifndef OUTRIDER_BASE_ALLOWANCE_H
#define OUTRIDER_BASE_ALLOWANCE_H

#include <stdint.h>

struct allowance {
	double share;	  /* Budget per nanosecond of time: 0 to 1 for one CPU's time, more for several CPUs. */
	double most_ns;	  /* Largest balance. Earnings beyond it are forfeited. */
	double credit_ns; /* The balance. */
	uint64_t last_ns; /* Time of the last update of credit_ns. */
};

/*
 * Add the earnings since the last call until `now_ns` to the balance. Returns the earnings that are forfeited because the
 * balance is at its maximum, in ns. Earns nothing if time went backwards.
 */
static inline double allowance_earn(struct allowance *a, uint64_t now_ns)
{
	double forfeited;

	if (now_ns > a->last_ns) {
		a->credit_ns += a->share * (double)(now_ns - a->last_ns);
		a->last_ns = now_ns;
	}
	forfeited = a->credit_ns > a->most_ns ? a->credit_ns - a->most_ns : 0;
	a->credit_ns -= forfeited;
	return forfeited;
}

static inline void allowance_spend(struct allowance *a, double ns)
{
	a->credit_ns -= ns;
}

#endif

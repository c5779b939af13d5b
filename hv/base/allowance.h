/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A share of time that may be spent, kept as a balance. The balance grows with time and falls by what is spent. What is spent
 * may be known only afterwards, so the balance can be negative, and whoever can wait then waits until it is not. Over any time
 * no more than the share is spent, but for what was saved up before and for what was spent last. Pure arithmetic, without a
 * clock or a lock of its own. All times are in nanoseconds.
 */
#ifndef OUTRIDER_BASE_ALLOWANCE_H
#define OUTRIDER_BASE_ALLOWANCE_H

#include <stdint.h>

struct allowance {
	double share;	  /* What may be spent for each nanosecond that passes: of one CPU's time 0 to 1, of several more. */
	double most_ns;	  /* The most that can be saved up. What is earned beyond it is forfeited. */
	double credit_ns; /* What may be spent now. */
	uint64_t last_ns; /* When credit_ns was last brought up to date. */
};

/* Add what was earned until `now_ns`. Returns how much of this was forfeited, in ns. A time that went back earns nothing. */
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

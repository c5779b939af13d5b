/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much is left unseen, as an estimate: Chao1, a species estimator (A. Chao, Scandinavian Journal of Statistics 11, 1984,
 * and Biometrics 43, 1987), over pairs of sites that race. It looks only at how many pairs were seen once and twice, and it
 * says how many there are AT LEAST that runs like those so far would show in the end. It is no count, and must be called an
 * estimate wherever it is shown.
 *
 * Pure functions. Any thread.
 */
#ifndef OUTRIDER_CAMPAIGN_LEARN_ESTIMATE_H
#define OUTRIDER_CAMPAIGN_LEARN_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

struct learn_counts {
	/* Pairs that were seen at all; those seen exactly once, and those seen exactly twice. */
	uint64_t observed, once, twice;
	/*
	 * In how many runs was looked, where `once` and `twice` count runs that saw a pair. That form is also known as Chao2.
	 * 0: they count observations.
	 */
	uint64_t runs;
};

struct learn_estimate {
	/* How many pairs there are in all, and the interval that holds that number with a probability of 95%. */
	double pairs, low, high;
	/* False: one run, or nothing seen, says nothing of what is unseen. All three are what was observed then. */
	bool known;
};

/* The bias-corrected form, which needs no pair that was seen twice. The interval is Chao's log-normal one. */
struct learn_estimate learn_chao1(const struct learn_counts *counts);

#endif
